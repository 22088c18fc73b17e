"""Drawing text: which word a number stands for, and from what state."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from seqzoo.zoo.language import sample
from seqzoo.zoo.language.sample import Sampler
from tests.small_language_models import build

WORDS, START, END = 12, 11, 12


@pytest.fixture(scope="module")
def model():
    return build(WORDS)[0]


def draw(logs, temperature, number, excluded=0):
    logs = tf.constant(logs, tf.float32)
    number = tf.constant(number, tf.float64)
    temperature = tf.constant(temperature, tf.float64)
    return int(sample.draw(logs, temperature, excluded, number))


def by_hand(logs, temperature, number, excluded=0):
    """The first word whose cumulative probability reaches the number."""
    shares = np.exp(np.asarray(logs, np.float32).astype(float) / temperature)
    if excluded:
        shares[excluded - 1] = 0
    total = 0.0
    for place, share in enumerate(shares / shares.sum(), 1):
        total += share
        if total >= number:
            return place
    raise AssertionError("the number is above 1")


@pytest.mark.parametrize("temperature", [0.3, 1, 5])
@pytest.mark.parametrize("excluded", [0, 3])
def test_the_first_word_whose_cumulative_probability_is_the_number(
    temperature, excluded
):
    rng = np.random.default_rng(0)
    for number in rng.random(30):
        logs = rng.normal(size=9)
        found = draw(logs, temperature, number, excluded)
        assert found == by_hand(logs, temperature, number, excluded)


def test_the_ends_of_the_range():
    assert [draw([0, 0, 0, 0], 1, n) for n in (0.25, 0.2500001, 0.5)] == [1, 2, 2]
    assert draw([0, 0, 0, 0], 1, 0, excluded=1) == 2
    assert draw([-1, 0], 1e-9, 0) == 2  # Word 1 has probability 0, too.
    assert draw([0, 0, 0, 0], 1, 1 - 2**-32, excluded=4) == 3


def test_a_temperature_of_0_and_a_very_low_one_take_the_most_likely():
    logs = [-4.0, -2.0, -1.5, -2.0]
    for temperature, number in itertools.product(
        [0, 1e-320, 1e-9, 1e-3], [2**-32, 0.999]
    ):
        assert draw(logs, temperature, number) == 3
        assert draw(logs, temperature, number, excluded=3) in (2, 4)
    assert draw([-1, -1], 0, 0.999) == 1  # The first of the largest.


def replay(model, count, temperature, seed, prompt, excluded):
    """The same text, each word from its whole sentence."""
    numbers = sample.uniform_numbers(seed)
    sentence, found = [START, *prompt], list(prompt)
    for _ in range(count):
        words = tf.constant([[word] for word in sentence])
        logs, _ = model.next_log_probs(words, model.zero_state(1))
        found.append(by_hand(logs[0].numpy(), temperature, next(numbers), excluded))
        sentence.append(found[-1])
        if found[-1] == END:
            sentence = [START]
    return found


@pytest.mark.parametrize("prompt, excluded", [([], 0), ([1, 4, 2], 5)])
def test_a_sentence_begins_anew_after_its_end(model, prompt, excluded):
    sampler = Sampler(model, START, END)
    options = {"temperature": 0.7, "seed": 3, "prompt": prompt, "excluded": excluded}
    found = list(sampler.words(60, **options))
    assert found == replay(model, 60, *options.values())
    assert len(found) == len(prompt) + 60
    assert 2 < found.count(END) < 30
    assert (5 in found) == (excluded == 0)


def test_a_seed_gives_a_text_and_another_another(model):
    sampler = Sampler(model, START, END)
    texts = [list(sampler.words(30, seed=seed)) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    assert texts[0] == list(Sampler(model, START, END).words(30, seed=1))


def test_at_temperature_0_the_seed_does_not_matter(model):
    sampler = Sampler(model, START, END)
    first, second = (
        list(sampler.words(10, temperature=0, seed=seed)) for seed in (1, 2)
    )
    logs, _ = model.next_log_probs(tf.constant([[START]]), model.zero_state(1))
    assert first == second
    assert first[0] == 1 + np.argmax(logs[0])
    assert first == list(sampler.words(10, temperature=1e-9, seed=3))


def test_it_is_traced_once(model):
    sampler = Sampler(model, START, END)
    for seed, temperature, prompt in [(1, 1, []), (2, 0.5, [1, 2]), (3, 0, [3])]:
        options = {"seed": seed, "temperature": temperature, "excluded": seed}
        list(sampler.words(15, prompt=prompt, **options))
    assert sampler.traces == 1


def test_what_is_no_number_of_words_or_temperature(model):
    for options in ({"count": -1}, {"count": 1, "temperature": float("nan")}):
        with pytest.raises(ValueError, match="both are 0 or more"):
            Sampler(model, START, END).words(**options)
    assert list(Sampler(model, START, END).words(0)) == []


def test_characters_begin_with_any_and_never_begin_anew(model):
    sampler = Sampler(model)
    found = list(sampler.words(40, seed=2))
    numbers, text = sample.uniform_numbers(2), []
    for _ in range(40):
        logs = np.zeros(WORDS)
        if text:
            words = tf.constant([[word] for word in text])
            logs = model.next_log_probs(words, model.zero_state(1))[0][0].numpy()
        text.append(by_hand(logs, 1, next(numbers)))
    assert found == text
    assert list(sampler.words(0, prompt=[END, 3])) == [END, 3]
