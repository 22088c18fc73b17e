"""`seqzoo sample`: text drawn from a language model."""

import codecs
from collections.abc import Iterable
from typing import Any

import absl.flags

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import command_line, common

USAGE = """
seqzoo sample RUN

Draws words from the language model of a run folder, a preset (preset:NAME) or a Torch
.t7 file, one sentence a line. Each sentence begins anew; the last one may stop short.
The same seed gives the same text.

A model of characters, as torch-rnn makes them, has no sentences: characters are drawn
one after another, behind those of --prompt.
"""


def define(flag_values: absl.flags.FlagValues) -> None:
    """Those of evaluate-rnnlm.lua that sample, and more."""
    absl.flags.DEFINE_integer(
        "nsample",
        200,
        "words or characters to draw; the end of a sentence is one, the prompt is not "
        "counted",
        lower_bound=1,
        flag_values=flag_values,
    )
    absl.flags.DEFINE_float(
        "temperature",
        1.0,
        "draw by p^(1/temperature): below 1 more of what is likely, at 0 always the "
        "most likely word",
        lower_bound=0.0,
        flag_values=flag_values,
    )
    absl.flags.DEFINE_integer(
        "seed",
        1,
        "of the draws, which are those of Torch",
        lower_bound=0,
        upper_bound=2**32 - 1,
        flag_values=flag_values,
    )
    absl.flags.DEFINE_string(
        "prompt",
        "",
        "words that the first sentence begins with, with blanks between; of a model of "
        "characters, the text to go on with",
        flag_values=flag_values,
    )
    absl.flags.DEFINE_bool(
        "exclude_unknown", False, "never draw <UNK>", flag_values=flag_values
    )
    common.define_threads(flag_values)


def run(args: list[str], flags: absl.flags.FlagValues) -> None:
    """Samples."""
    common.check_args(args, 1, 1, "give RUN")
    common.start_tensorflow(flags)
    from seqzoo.zoo.language import sample, trained_model

    trained = trained_model.read(args[0])
    vocabulary = trained.vocabulary
    if trained.characters:
        if flags.exclude_unknown:
            raise InputError(
                f"{args[0]}: is a model of characters, which has no <UNK>; leave "
                "--exclude_unknown out."
            )
        sampler = sample.Sampler(trained.model)
        prompt, excluded = _characters(flags.prompt, vocabulary), 0
    else:
        sampler = sample.Sampler(trained.model, vocabulary.start, vocabulary.end)
        prompt = _words(flags.prompt.split(), vocabulary)
        excluded = vocabulary.unknown if flags.exclude_unknown else 0
    ids = sampler.words(
        flags.nsample,
        temperature=flags.temperature,
        seed=flags.seed,
        prompt=prompt,
        excluded=excluded,
    )
    if trained.characters:
        _print_characters(ids, vocabulary)
    else:
        _print_words(ids, vocabulary)


def _words(words: list[str], vocabulary: Any) -> list[int]:
    from seqzoo.datasets.gbw_vocabulary import END, START

    for word in words:
        if word in (START, END):
            raise InputError(f"--prompt: {word} marks sentences; leave it out.")
        if word not in vocabulary.ids:
            near = command_line.nearest(word, vocabulary.words)
            hint = f"did you mean {near!r}?" if near else "nor one like it."
            raise InputError(
                f"--prompt: {word!r} is not in the model's vocabulary; {hint}"
            )
    return [vocabulary.ids[word] for word in words]


def _characters(text: str, vocabulary: Any) -> list[int]:
    from seqzoo.datasets import character_text

    for character in text:
        if character not in vocabulary.ids:
            raise character_text.unknown("--prompt", character, vocabulary)
    return [vocabulary.ids[character] for character in text]


def _print_words(ids: Iterable[int], vocabulary: Any) -> None:
    """Prints words as they come, a sentence a line."""
    begun = False
    for number in ids:
        if number == vocabulary.end:
            print()
        else:
            word = vocabulary.words[number - 1]
            word = word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            print(f" {word}" if begun else word, end="", flush=True)
        begun = number != vocabulary.end
    if begun:
        print()


def _print_characters(ids: Iterable[int], vocabulary: Any) -> None:
    """Prints characters as they come, and ends the last line."""
    # Those of old models may be bytes, of which some make a character.
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    character = ""
    for number in ids:
        character = vocabulary.words[number - 1]
        text = decoder.decode(character.encode("utf-8", "surrogateescape"))
        print(text, end="", flush=True)
    print(decoder.decode(b"", final=True), end="" if character == "\n" else "\n")
