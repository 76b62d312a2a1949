"""How much a local model reads at once: found by use on a GPU, and halved where the device's memory ends.

A batch that the memory does not hold is no lost run: it is read again in halves, and later batches are of the size that
was held. One text that the memory does not hold by itself is refused with the remedy, so its rows say why. Scores do
not depend on the size but for the last digits of float32, since each text is read for itself.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from longmark.errors import RequestRefused

T = TypeVar("T")

# What libraries write in a plain RuntimeError: CUDA's own allocator has a class, its libraries and the CPU's have none.
_PHRASES = (
    "out of memory",
    "can't allocate memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
)


@dataclass
class BatchRoom:
    """The size of a batch, in the unit of who reads (texts or tokens), at least 1.

    limit: up to which the size doubles after a batch of more than half of it. It ends where memory ended once.
    """

    size: int
    limit: int

    def held(self, used: int) -> None:
        """A batch of `used` was read. One that filled more than half of the room shows that more may fit: texts of
        unequal length seldom fill it to the last token."""
        if 2 * used > self.size and 2 * self.size <= self.limit:
            self.size *= 2

    def halve(self) -> bool:
        """Memory ended: half the size from here on. False where nothing is left to halve."""
        if self.size <= 1:
            return False
        self.size //= 2
        self.limit = self.size
        return True


def room_on(device_type: str, *, cpu: int, gpu: int, limit: int) -> BatchRoom:
    """The first room on a device of torch: fixed on a processor, whose speed does not grow with it."""
    return BatchRoom(cpu, cpu) if device_type == "cpu" else BatchRoom(gpu, limit)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that the memory of the device, or of the machine, is exhausted."""
    kind = getattr(sys.modules.get("torch"), "OutOfMemoryError", None)
    if isinstance(error, MemoryError) or (kind is not None and isinstance(error, kind)):
        return True
    return isinstance(error, RuntimeError) and any(phrase in str(error) for phrase in _PHRASES)


def release() -> None:
    """Gives memory back that the failed batch has left, so that its half finds it. Not within `except`, whose traceback
    holds the tensors."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and getattr(torch, "cuda", None) and torch.cuda.is_available():
        torch.cuda.empty_cache()


def no_memory(model_name: str) -> RequestRefused:
    """The error for what does not fit by itself."""
    return RequestRefused(
        f"the memory of this device does not hold {model_name} and one text: shorten the texts, end what else uses the "
        "device, or use a smaller model"
    )


def read_within(room: BatchRoom, model_name: str, read: Callable[[int], T]) -> T:
    """What `read(size)` gives, begun anew with half the size whenever memory ends.

    RequestRefused where it ends at size 1.
    """
    while True:
        try:
            return read(room.size)
        except Exception as error:  # torch and its libraries raise several classes
            if not is_out_of_memory(error):
                raise
        if not room.halve():
            raise no_memory(model_name)
        release()
