"""Which device computes, and with how much memory: one line for the logs."""

import os
import platform

import tensorflow as tf


def describe() -> str:
    """`The active device is CPU:0: NAME, 2 threads free:..M, used:..M, total:..M, ...`.

    For a GPU the memory is its own, as far as TensorFlow tells it.
    """
    gpus = tf.config.list_logical_devices("GPU")
    if gpus:
        details = tf.config.experimental.get_device_details(
            tf.config.list_physical_devices("GPU")[0]
        )
        used = tf.config.experimental.get_memory_info("GPU:0")["current"]
        name = details.get("device_name", "GPU")
        return f"The active device is GPU:0: {name} used:{_mega(used)}"
    threads = tf.config.threading.get_intra_op_parallelism_threads()
    pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    total, free = pages * page, os.sysconf("SC_AVPHYS_PAGES") * page
    return (
        f"The active device is CPU:0: {_cpu_name()}, "
        f"{threads or os.cpu_count()} threads free:{_mega(free)}, "
        f"used:{_mega(total - free)}, total:{_mega(total)}, "
        f"free/total:{free / total:g}"
    )


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _mega(size: int) -> str:
    return f"{size >> 20}M"
