"""Decision D2: t is opaque, unsigned, and never a defence."""

from vector import KEY, OTHER_KEY, T_MS, T, body, family, fields, header, no, ok

SECONDS = 1_700_000_000
OUT = no('timestamp_out_of_tolerance', authentic=True)
UNREADABLE = no('timestamp_unreadable', authentic=True)
A_YEAR = 31_536_000
timestamp = family('timestamp: ', rule='D2')


def at(t: str, name: str, expect: dict, now_ms: int = SECONDS * 1000, tolerance: float | None = None, **more) -> None:
    options = {'now_ms': now_ms} | ({} if tolerance is None else {'tolerance_seconds': tolerance})
    timestamp(name, expect=expect, signature=header(t=t), options=options, **more)


def add_all() -> None:
    without_tolerance()
    unreadable()
    with_tolerance()
    together()


def without_tolerance() -> None:
    at(T, 'seconds, of now', ok(age=0))
    at(T, 'seconds, a minute old, no tolerance', ok(age=60), SECONDS * 1000 + 60_000)
    at(T, 'seconds, a minute ahead, no tolerance', ok(age=-60), SECONDS * 1000 - 60_000)
    at(T_MS, 'milliseconds, of now', ok(unit='milliseconds', age=0), threat='A24')
    at(T_MS, 'milliseconds, two minutes old, no tolerance', ok(unit='milliseconds', age=120), SECONDS * 1000 + 120_000)
    at(T, 'seconds, 1.001 s old', ok(age=1.001), SECONDS * 1000 + 1001)
    at('1700000000123', 'milliseconds, 0.654 s old', ok(unit='milliseconds', age=0.654), SECONDS * 1000 + 777)
    at('99999999999', 'the largest number of seconds', ok(age=-98299999999), threat='A24')
    at('100000000000', 'the smallest number of milliseconds', ok(unit='milliseconds', age=1_600_000_000), threat='A24')
    at('0', 'zero is seconds', ok(age=SECONDS))
    at('0001700000000', 'leading zeros do not make milliseconds', ok(age=0), note='The unit goes by the value.')
    at('9' * 40, 'forty digits are milliseconds', ok(unit='milliseconds', age=None), note='The unit goes by the value.')
    at(T, 'a signature of a year ago, no tolerance', ok(age=A_YEAR), (SECONDS + A_YEAR) * 1000, threat='A28')
    fresh, name = SECONDS + A_YEAR, 'the same year-old signature under a fresh t passes any tolerance'
    at(str(fresh), name, ok(age=0), fresh * 1000, 30, threat='A1')
    at('1', 'any t fits the same signature', ok(age=SECONDS - 1), threat='A1')


def unreadable() -> None:
    for t, name in [
        ('abc', 'a word'),
        ('now', 'the word now'),
        ('-5', 'a negative number'),
        ('+5', 'a plus sign'),
        ('0x10', 'hexadecimal'),
        ('1e3', 'an exponent'),
        ('1700000000.5', 'a fraction'),
        ('1_700', 'an underscore'),
        ('1700000000n', 'a BigInt'),
        ('NaN', 'NaN'),
        ('Infinity', 'Infinity'),
        ('null', 'null'),
        ('2023-11-14T22:13:20Z', 'a date'),
        ('[1700000000]', 'brackets'),
        ('\u0661\u0667\u0660\u0660', 'Arabic-Indic digits'),
        ('\uff11\uff17', 'full-width digits'),
    ]:
        at(t, f'{name}, no tolerance', ok(unit='unreadable', age=None), threat='A11')
        at(t, f'{name}, with a tolerance', UNREADABLE, tolerance=30, threat='A11')


def with_tolerance() -> None:
    now = SECONDS * 1000
    at(T, 'of now, tolerance 30', ok(age=0), now, 30)
    at(T, '30 s old, tolerance 30', ok(age=30), now + 30_000, 30)
    at(T, '30.001 s old, tolerance 30', OUT, now + 30_001, 30)
    at(T, '31 s old, tolerance 30', OUT, now + 31_000, 30, threat='A28')
    at(T, '30 s ahead, tolerance 30', ok(age=-30), now - 30_000, 30)
    at(T, '30.001 s ahead, tolerance 30', OUT, now - 30_001, 30)
    at(T, '31 s ahead, tolerance 30', OUT, now - 31_000, 30, threat='A24')
    at(T_MS, 'milliseconds, 30 s old, tolerance 30', ok(unit='milliseconds', age=30), now + 30_000, 30, threat='A24')
    at(T_MS, 'milliseconds, 30.001 s old, tolerance 30', OUT, now + 30_001, 30, threat='A24')
    at(T_MS, 'milliseconds, 30 s ahead, tolerance 30', ok(unit='milliseconds', age=-30), now - 30_000, 30)
    at(T_MS, 'milliseconds, 30.001 s ahead, tolerance 30', OUT, now - 30_001, 30)
    at(T, '0.7 s old, tolerance 0.7', ok(age=0.7), now + 700, 0.7)
    at(T, '0.7 s ahead, tolerance 0.7', ok(age=-0.7), now - 700, 0.7)
    at(T, '0.701 s old, tolerance 0.7', OUT, now + 701, 0.7)
    at(T, 'five minutes old, tolerance 300', ok(age=300), now + 300_000, 300)
    at(T, 'an hour old, tolerance 300', OUT, now + 3_600_000, 300)
    at('99999999999', 'far ahead in seconds, tolerance 30', OUT, now, 30)
    at('100000000000', 'far behind in milliseconds, tolerance 30', OUT, now, 30)
    at('0', 'zero, tolerance 30', OUT, now, 30)
    at('9' * 40, 'forty digits, tolerance 30', OUT, now, 30)
    at('9' * 180, 'one hundred and eighty digits, tolerance 30', OUT, now, 30)


def together() -> None:
    mismatch = no('mismatch')
    strict = {'tolerance_seconds': 30, 'now_ms': (SECONDS + 3600) * 1000}
    forged = header(key=OTHER_KEY)
    timestamp('mismatch wins over tolerance', expect=mismatch, signature=forged, options=strict)
    unreadable = {'signature': header(key=OTHER_KEY, t='abc'), 'threat': 'A11'}
    timestamp('mismatch wins over an unreadable t', expect=mismatch, options=strict, **unreadable)
    timestamp(
        'an expired key wins over tolerance',
        expect=no('key_expired'),
        threat='A20',
        note='The decisions leave the order open. An expired key proves nothing, so nothing is authentic.',
        options=strict | {'signing_keys': [{'id': 'old', 'key': KEY, 'not_after': '2023-11-01T00:00:00Z'}]},
    )
    failed = body(fields(transaction_status='FAILED'))
    timestamp('tolerance does not hide another status', failed, mismatch, options=strict)
