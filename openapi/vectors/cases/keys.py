"""Decision D7: keys, rotation, and digests that only look right."""

import base64

from digest import hash_hex, hmac_hex
from vector import FOURTH_KEY, KEY, NOW_MS, OTHER_KEY, SIGNED, THIRD_KEY, T
from vector import body, callback, digest, fields, header, joined, no, ok

MISMATCH = no('mismatch')
LATER = '2030-01-01T00:00:00Z'
EARLIER = '2023-11-01T00:00:00Z'
# NOW_MS is 2023-11-14T22:13:30Z.
NOW, BEFORE, AFTER = '2023-11-14T22:13:30.000Z', '2023-11-14T22:13:29.999Z', '2023-11-14T22:13:30.001Z'


def ring(*keys: tuple) -> dict:
    entries = [dict(zip(('id', 'key', 'not_after'), key, strict=False)) for key in keys]
    return {'signing_keys': entries}


def case(name: str, expect: dict, options: dict, key: str = KEY, **more) -> None:
    more = {'signature': header(key=key), 'threat': 'A20', **more}
    callback(f'keys: {name}', expect=expect, rule='D7', options=options, **more)


def add_all() -> None:
    rotation()
    expiry()
    which_text()
    wrong_digests()
    assert NOW_MS == 1_700_000_010_000


def rotation() -> None:
    two = ring(('new', OTHER_KEY), ('old', KEY))
    case('two, signed with the first', ok(key_id='new'), two, OTHER_KEY)
    case('two, signed with the second', ok(key_id='old'), two, KEY)
    case('two, signed with another', MISMATCH, two, THIRD_KEY)
    case('one with an id', ok(key_id='only'), ring(('only', KEY)))
    three = ring(('c', THIRD_KEY), ('b', OTHER_KEY), ('a', KEY))
    for name, key in [('a', KEY), ('b', OTHER_KEY), ('c', THIRD_KEY)]:
        case(f'three, signed with {name}', ok(key_id=name), three, key)
    four = ring(('2026-q1', KEY), ('2026-q2', OTHER_KEY), ('2026-q3', THIRD_KEY), ('2026-q4', FOURTH_KEY))
    for name, key in [('2026-q1', KEY), ('2026-q2', OTHER_KEY), ('2026-q3', THIRD_KEY), ('2026-q4', FOURTH_KEY)]:
        case(f'four, signed with {name}', ok(key_id=name), four, key)
    case('four, signed with a fifth', MISMATCH, four, 'Jx4Wm8Pb2Qn6Rt0Yv3Zc7Kd1Lf5Gh9Sa')
    signed = fields(merchant_reference='A:B')
    ambiguous = no('ambiguous', authentic=True)
    case('two, a colon under the second', ambiguous, two, signed=signed, signature=header(signed))


def expiry() -> None:
    case('ends later', ok(key_id='old'), ring(('new', OTHER_KEY), ('old', KEY, LATER)))
    case('has ended', no('key_expired'), ring(('new', OTHER_KEY), ('old', KEY, EARLIER)))
    case('has ended, and is first', no('key_expired'), ring(('old', KEY, EARLIER), ('new', OTHER_KEY)))
    case('has ended, and is the only one', no('key_expired'), ring(('old', KEY, EARLIER)))
    case('another has ended', ok(key_id='new'), ring(('old', OTHER_KEY, EARLIER), ('new', KEY)))
    case('has ended, and nothing fits', MISMATCH, ring(('old', KEY, EARLIER), ('new', OTHER_KEY)), THIRD_KEY)
    case('all have ended, the second fits', no('key_expired'), ring(('a', OTHER_KEY, EARLIER), ('b', KEY, EARLIER)))
    inclusive = 'The end date is inclusive: the key counts at that instant, and not one millisecond later.'
    case('ends at this instant', ok(key_id='old'), ring(('old', KEY, NOW)), note=inclusive)
    case('ended one millisecond ago', no('key_expired'), ring(('old', KEY, BEFORE)), note=inclusive)
    case('ends in one millisecond', ok(key_id='old'), ring(('old', KEY, AFTER)), note=inclusive)


def which_text() -> None:
    """The key is its own UTF-8 bytes: nothing is decoded, cut or normalised."""

    def own(name: str, key: str) -> None:
        case(name, ok(), {'signing_key': key}, key, threat='A19')

    own('Unicode', 'cl\u00e9-\u043a\u043b\u044e\u0447-\u9375-\U0001f511')
    own('of 64 bytes, the block of SHA-256', (KEY + OTHER_KEY)[:64])
    own('of 65 bytes, which HMAC hashes first', KEY + OTHER_KEY + 'x')
    own('of 131 bytes', (KEY + OTHER_KEY + THIRD_KEY + FOURTH_KEY + 'abc')[:131])
    own('that looks like hexadecimal', '00112233445566778899aabbccddeeff')
    own('that looks like Base64', 'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=')
    # The signing key is alphanumeric (protocol §1). Punctuation is accepted all the same, in case that changes; quotes are
    # not, since they are left over from a configuration file (threat A19).
    own('with a prefix and punctuation', 'whsec_Zq8sT4vLm2Xw/+=:,;.!?@#%&*()\\')
    own('of eight characters', 'Ab3dE6gH')

    def other(name: str, key: str, used: bytes) -> None:
        signature = f't={T},s={hmac_hex(used, joined(SIGNED).encode())}'
        case(name, MISMATCH, {'signing_key': key}, threat='A19', signature=signature)

    plain = 'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo='
    other('Base64-decoded', plain, base64.b64decode(plain))
    other('Base64-decoded, a key without padding', KEY, base64.b64decode(KEY))
    other('hex-decoded', '00112233445566778899aabbccddeeff', bytes.fromhex('00112233445566778899aabbccddeeff'))
    other('without its prefix', 'whsec_' + KEY, KEY.encode())
    other('in upper case', KEY, KEY.upper().encode())
    other('with a NUL after 64 bytes', (KEY + OTHER_KEY)[:64], (KEY + OTHER_KEY)[:64].encode() + b'\0')
    other('with a line feed after it', KEY, KEY.encode() + b'\n')
    other('without its last character', KEY, KEY[:-1].encode())
    other('in Latin-1', 'cl\u00e9-1234567', 'cl\u00e9-1234567'.encode('latin-1'))
    other('in another normal form', 'cl\u00e9-1234567', 'cle\u0301-1234567'.encode())
    other('empty, which HMAC pads to NUL', KEY, b'\0')
    other('the word undefined', KEY, b'undefined')
    other('the word null', KEY, b'null')


def wrong_digests() -> None:
    s = digest()

    def wrong(name: str, value: str) -> None:
        assert len(value) == 64 and value != s
        callback(f'digest: {name}', expect=MISMATCH, rule='D7', signature=f't={T},s={value}')

    text = joined(SIGNED)
    wrong('of another key', digest(key=OTHER_KEY))
    wrong('with its first digit changed', ('0' if s[0] != '0' else '1') + s[1:])
    wrong('with its last digit changed', s[:63] + ('0' if s[63] != '0' else '1'))
    wrong('with a middle digit changed', s[:32] + ('0' if s[32] != '0' else '1') + s[33:])
    wrong('with two digits swapped', s[:10] + s[11] + s[10] + s[12:])
    wrong('reversed', s[::-1])
    wrong('plain SHA-256 of the string', hash_hex(text.encode()))
    wrong('SHA-256 of key and string', hash_hex((KEY + text).encode()))
    wrong('key and string exchanged', hmac_hex(text.encode(), KEY.encode()))
    wrong('HMAC-SHA-512 cut to 64 digits', hmac_hex(KEY.encode(), text.encode(), 'sha512')[:64])
    wrong('HMAC-SHA-512/256', hmac_hex(KEY.encode(), text.encode(), 'sha512-256'))
    wrong('HMAC-SHA3-256', hmac_hex(KEY.encode(), text.encode(), 'sha3-256'))
    wrong('of the digest once more', digest(s))
    wrong('of the JSON body', digest(body()))
    wrong('of t, a dot and the body', digest(f'{T}.{body()}'))
    wrong('of t before the string', digest(f'{T}:{text}'))
    wrong('with t after the string', digest(f'{text}:{T}'))
    wrong('with a line feed after the string', digest(text + '\n'))
    wrong('with a colon after the string', digest(text + ':'))
    wrong('with a colon before the string', digest(':' + text))
    wrong('joined with commas', digest(text.replace(':', ',')))
    wrong('joined with nothing', digest(text.replace(':', '')))
    wrong('joined with a space after each colon', digest(text.replace(':', ': ')))
    wrong('of the empty string', digest(''))
    wrong('without the event', digest(text.partition(':')[2]))
    order = ['event', 'internal_reference', 'merchant_reference', 'transaction_type', 'transaction_status']
    wrong('in another order', digest(':'.join(SIGNED[name] for name in order)))
    order = sorted(SIGNED)
    wrong('in alphabetical order', digest(':'.join(SIGNED[name] for name in order)))
