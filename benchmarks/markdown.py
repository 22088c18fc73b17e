"""Prints the last results as the tables of docs/benchmarks.md.

    python benchmarks/markdown.py > tables.md

A cell is the median over the rounds, with the least and the greatest.
"""

import json

import alternate


def main() -> None:
    for path in sorted(alternate.RESULTS.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        kind = "quick, one round" if result["quick"] else f"{result['rounds']} rounds"
        print(f"## {path.stem}\n\n{result['machine']}; {kind}.\n")
        print("| | per second | per CPU-second |\n|---|---|---|")
        for case in result["cases"]:
            print(f"| **{case.pop('case')}** | | |")
            for name, rates in case.items():
                wall = rates.get("per_second")
                cells = [
                    alternate.spread(values) if values else ""
                    for values in (wall, rates["per_cpu_second"])
                ]
                print(f"| {name} | {cells[0]} | {cells[1]} |")
        print()


if __name__ == "__main__":
    main()
