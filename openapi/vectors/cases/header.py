"""Decision D6: the grammar of hmac-signature."""

import base64

from vector import ABSENT, OTHER_KEY, T, callback, data, digest, header, no, ok

S = digest()
FORGED = digest(key=OTHER_KEY)
MALFORMED = no('signature_malformed')
MISSING = no('signature_missing')


def accept(name: str, signature: str, **more) -> None:
    callback(f'header: {name}', signature=signature, rule='D6', **more)


def refuse(name: str, signature, expect: dict = MALFORMED, threat: str | None = 'A11', **more) -> None:
    callback(f'header: {name}', expect=expect, signature=signature, rule='D6', threat=threat, **more)


def add_all() -> None:
    accepted()
    absent_or_odd()
    lengths()
    repeated()
    parts()
    white_space()
    digits()


def accepted() -> None:
    accept('t then s', f't={T},s={S}')
    accept('s then t', f's={S},t={T}')
    accept('a part with another name first is ignored', f'v=1,t={T},s={S}')
    accept('a part with another name between is ignored', f't={T},alg=sha256,s={S}')
    accept('a part with another name last is ignored', f't={T},s={S},v2=abc')
    accept('many other parts are ignored', f'a=1,b=2,t={T},c=3,d=4,s={S},e=5')
    accept('another part that looks like a digest is ignored', f't={T},s={S},s2={FORGED}')
    accept('another name twice is ignored', f't={T},v=1,s={S},v=2', note='Only t and s must be single.')
    accept('upper-case names beside t and s are other names', f'T=5,t={T},S={FORGED},s={S}')
    accept('names that begin with t or s are other names', f'ts=5,t={T},sig={FORGED},s={S},t1=9')
    inherited = f'__proto__=1,t={T},constructor=2,s={S},toString=3'
    accept('__proto__ and constructor as other names', inherited, threat='A16')


def absent_or_odd() -> None:
    refuse('undefined', ABSENT, MISSING, None)
    refuse('null', None, MISSING, None)
    refuse('empty', '', MISSING, None)
    refuse('an array of one good header', [header()], threat='A12')
    refuse('an array of two equal headers', [header(), header()], threat='A12')
    refuse('an array with a forged and a good header', [f't={T},s={FORGED}', header()], threat='A12')
    refuse('an empty array', [], threat='A12')
    refuse('a number', 5, threat='A7')
    refuse('zero', 0, threat='A7')
    refuse('true', True, threat='A7')
    refuse('false', False, threat='A7')
    refuse('an object with t and s', {'t': T, 's': S}, threat='A7')
    refuse('an empty object', {}, threat='A7')
    refuse('the grammar is checked before the body', 'nonsense', threat='A18', body_text='not JSON')
    refuse('a missing header is told before a bad body', None, MISSING, 'A18', body_text='not JSON')
    callback('header: good, body already parsed', rule='D6', body_json=data())


def lengths() -> None:
    plain = f't={T},s={S}'
    accept('256 characters with another part', f'{plain},v='.ljust(256, 'x'))
    refuse('257 characters with another part', f'{plain},v='.ljust(257, 'x'), threat='A18')
    unreadable = ok(unit='unreadable', age=None)
    accept('256 characters with a long t', 't=' + 'x' * 187 + f',s={S}', expect=unreadable)
    refuse('257 characters with a long t', 't=' + 'x' * 188 + f',s={S}', threat='A18')
    refuse('4,096 characters', f'{plain},v='.ljust(4096, 'x'), threat='A18')
    refuse('16,384 commas after a good header', plain + ',' * 16384, threat='A18')


def repeated() -> None:
    t, s, bad = f't={T}', f's={S}', f's={FORGED}'
    refuse('t, t, s', f't=1,{t},{s}')
    refuse('t, s, t', f'{t},{s},t=1700000009')
    refuse('s, t, t', f'{s},{t},t=1')
    refuse('the same t twice', f'{t},{t},{s}')
    refuse('s forged then good', f'{t},{bad},{s}')
    refuse('s good then forged', f'{t},{s},{bad}')
    refuse('s around t, good first', f'{s},{t},{bad}')
    refuse('s around t, forged first', f'{bad},{t},{s}')
    refuse('s, s, t', f'{s},{bad},{t}')
    refuse('the same s twice', f'{t},{s},{s}')
    refuse('both twice', f'{t},{s},{t},{s}', threat='A12')
    refuse('two headers joined with comma and space', f'{t},{bad}, {t},{s}', threat='A12')
    refuse('two equal headers joined with comma and space', f'{t},{s}, {t},{s}', threat='A12')
    refuse('a second, empty t', f'{t},{s},t=')
    refuse('a second, empty s', f'{t},{s},s=')


def parts() -> None:
    t, s = f't={T}', f's={S}'
    refuse('t alone', t)
    refuse('s alone', s)
    refuse('the digest alone', S)
    refuse('only other names', 'v=1,w=2')
    refuse('empty t', f't=,{s}')
    refuse('empty s', f'{t},s=')
    refuse('T instead of t', f'T={T},{s}')
    refuse('S instead of s', f'{t},S={S}')
    refuse('t without =', f't,{s}')
    refuse('s without =', f'{t},s')
    refuse('another part without =', f'{t},{s},v')
    empty = 'An empty value is not name=value, under any name: an empty t is malformed for the same reason.'
    refuse('another part with an empty value', f'{t},{s},v=', note=empty)
    refuse('another part without = first', f'v,{t},{s}')
    refuse('trailing comma', f'{t},{s},')
    refuse('leading comma', f',{t},{s}')
    refuse('empty part between', f'{t},,{s}')
    refuse('a comma alone', ',')
    refuse('an equals sign alone', '=')
    refuse('a part with an empty name', f'=1,{t},{s}')
    refuse('= after the digest', f'{t},s={S}=')
    refuse('= and junk after the digest', f'{t},s={S}=junk')
    refuse('= inside t', f't={T}=1,{s}')
    refuse('== after t', f't=={T},{s}')
    refuse('= inside another part', f'{t},{s},v=YWJj=')
    refuse('semicolon instead of comma', f'{t};{s}')
    refuse('colon instead of =', f't:{T},s:{S}')
    refuse('ampersand instead of comma', f'{t}&{s}')
    refuse('percent-encoded: a header is never decoded', f't%3D{T}%2Cs%3D{S}')
    refuse('quoted values', f't="{T}",s="{S}"')
    refuse('JSON', f'{{"t":{T},"s":"{S}"}}')
    refuse('the name of the header in its value', f'hmac-signature: {t},{s}')


def white_space() -> None:
    t, s = f't={T}', f's={S}'
    refuse('one space', ' ')
    refuse('space after the comma', f'{t}, {s}')
    refuse('space before the comma', f'{t} ,{s}')
    refuse('leading space', f' {t},{s}')
    refuse('trailing space', f'{t},{s} ')
    refuse('space before =', f'{t},s ={S}')
    refuse('space after =', f'{t},s= {S}')
    refuse('space inside t', f't=1700 000000,{s}')
    refuse('t with a space before now', f't= now,{s}')
    refuse('space inside another value', f'{t},{s},v=a b')
    refuse('space inside another name', f'{t},{s},a b=v')
    for name, character in [
        ('tab', '\t'),
        ('line feed', '\n'),
        ('carriage return', '\r'),
        ('vertical tab', '\v'),
        ('form feed', '\f'),
        ('no-break space', '\u00a0'),
        ('em space', '\u2003'),
        ('ideographic space', '\u3000'),
        ('line separator', '\u2028'),
        ('zero-width no-break space', '\ufeff'),
    ]:
        refuse(f'{name} after t', f'{t}{character},{s}')
    refuse('trailing line feed', f'{t},{s}\n')
    refuse('trailing CR LF', f'{t},{s}\r\n')
    control = 'White space is refused (decision D6), NEL included, and so is every other control character.'
    refuse('next line (U+0085) after t', f'{t}\u0085,{s}', note=control)
    refuse('NUL inside t', f't=1700\0,{s}', note=control)
    refuse('escape character inside t', f't=\x1b[31m,{s}', threat='A23', note=control)
    refuse('NUL after the digest', f'{t},{s}\0')
    refuse('NUL inside another value', f'{t},{s},v=a\0b', note=control)


def digits() -> None:
    t = f't={T}'

    def s(value: str, name: str, expect: dict = MALFORMED) -> None:
        refuse(f's {name}', f'{t},s={value}', expect, 'A13')

    s(S.upper(), 'in upper case')
    letter = next(index for index, character in enumerate(S) if character in 'abcdef')
    s(S[:letter] + S[letter].upper() + S[letter + 1 :], 'with one upper-case digit')
    s(S[:63], 'with 63 digits')
    s(S + '0', 'with 65 digits')
    s('0' + S, 'with a leading zero more')
    s('0x' + S, 'with 0x before it')
    s('0x' + S[2:], 'of 64 characters that begin with 0x')
    s(S[:63] + 'g', 'with a last character that is no digit')
    s('g' + S[1:], 'with a first character that is no digit')
    s(S[:32], 'cut to half')
    s(S * 2, 'doubled')
    s(S[:32] + '-' + S[33:], 'with a hyphen')
    s(S + '\u200b', 'with a zero-width space after it')
    s(''.join(chr(0x100 + ord(character)) for character in S), 'of code points 256 above each digit')
    s(chr(0x100 + ord(S[0])) + S[1:], 'with one code point 256 above the digit, first')
    s(S[:63] + chr(0x100 + ord(S[63])), 'with one code point 256 above the digit, last')
    s(''.join(chr(0xFEE0 + ord(character)) for character in S), 'in full-width characters')
    s(chr(0x10000 + ord(S[0])) + S[1:63], 'of 64 code units with a surrogate pair')
    raw = bytes.fromhex(S)
    s(base64.b64encode(raw).decode(), 'in Base64')
    s(base64.b64encode(raw).decode().rstrip('='), 'in Base64 without padding')
    s(base64.urlsafe_b64encode(raw).decode().rstrip('='), 'in Base64url')
    s(base64.b64encode(S.encode()).decode().rstrip('=')[:64], 'of 64 Base64 characters')
    s('0' * 64, 'of 64 zeros', no('mismatch'))
    s('f' * 64, 'of 64 f', no('mismatch'))
