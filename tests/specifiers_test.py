import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.datasets.specifiers import rspecifier, wspecifier


def test_what_is_read():
    spec = rspecifier("ark:gunzip -c a:b.gz |")
    assert (spec.script, spec.name) == (False, "gunzip -c a:b.gz |")
    assert rspecifier("scp:-").script
    spec = rspecifier("s,cs,p,ark,bg,t:f")
    assert spec.sorted and spec.called_sorted and spec.permissive and not spec.once
    assert not rspecifier("ark,s,ns,o:f").sorted


def test_what_is_written():
    spec = wspecifier("ark,scp:d/a.ark,d/a.scp")
    assert (spec.archive, spec.script, spec.binary) == ("d/a.ark", "d/a.scp", True)
    spec = wspecifier("ark,t,f:-")
    assert (spec.archive, spec.script, spec.binary, spec.flush) == (
        "-",
        None,
        False,
        True,
    )
    spec = wspecifier("scp,p:a.scp")
    assert (spec.archive, spec.script, spec.permissive) == (None, "a.scp", True)
    assert wspecifier("ark:| gzip -c > a,b.gz").archive == "| gzip -c > a,b.gz"


@pytest.mark.parametrize(
    "text, message",
    [
        ("feats.ark", "'feats.ark' is not a table; write ark:FILE or scp:FILE"),
        ("gs://b/feats.ark", "is not a table"),
        ("ark,scp:a,b", "names ark and scp to read"),
        ("ark,x:a", "unknown option 'x'; known when reading: o, no, s"),
    ],
)
def test_what_cannot_be_read(text, message):
    with pytest.raises(InputError, match=message):
        rspecifier(text)


@pytest.mark.parametrize(
    "text, message",
    [
        ("a.ark", "'a.ark' is not a table; write ark:FILE"),
        ("scp,ark:a,b", "has scp,ark; write"),
        ("ark,scp:a", "needs two files"),
        ("ark,scp:-,b", "cannot point into '-'"),
        ("ark,scp:a.gz,b", "write the archive to a plain file"),
        ("ark,s:a", "unknown option 's'; known when writing"),
    ],
)
def test_what_cannot_be_written(text, message):
    with pytest.raises(InputError, match=message):
        wspecifier(text)
