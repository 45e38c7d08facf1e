"""Digests for the vectors, made by the openssl command and by nothing else.

The vectors would prove little if the code under test, or the library under it, had computed them.
"""

import subprocess

TOOL_COMMAND = 'openssl dgst -sha256 -mac HMAC -macopt hexkey:<key bytes in hex>'


def _openssl(arguments: list[str], message: bytes) -> str:
    done = subprocess.run(['openssl', 'dgst', *arguments], input=message, capture_output=True, check=True)
    # "SHA2-256(stdin)= 1f…" or "HMAC-SHA2-256(stdin)= 1f…", depending on the version.
    return done.stdout.decode('ascii').strip().rpartition(' ')[2]


def hmac_hex(key: bytes, message: bytes, digest: str = 'sha256') -> str:
    """The HMAC of the message, as lower-case hexadecimal."""
    return _openssl([f'-{digest}', '-mac', 'HMAC', '-macopt', f'hexkey:{key.hex()}'], message)


def hash_hex(message: bytes, digest: str = 'sha256') -> str:
    """The plain hash, for cases that a wrong implementation would produce."""
    return _openssl([f'-{digest}'], message)


def tool() -> str:
    """Which program made the digests, for the file's `digest_tool`."""
    version = subprocess.run(['openssl', 'version'], capture_output=True, check=True, text=True).stdout
    return f'{" ".join(version.split()[:2])}: {TOOL_COMMAND}'


def check_against_published_vectors() -> None:
    """RFC 4231, test cases 1, 2, 6 and 7: a tool that fails these makes no vectors."""
    published = [
        (b'\x0b' * 20, b'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'),
        (b'Jefe', b'what do ya want for nothing?', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'),
        (
            b'\xaa' * 131,
            b'Test Using Larger Than Block-Size Key - Hash Key First',
            '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
        ),
        (
            b'\xaa' * 131,
            b'This is a test using a larger than block-size key and a larger than block-size data. '
            b'The key needs to be hashed before being used by the HMAC algorithm.',
            '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
        ),
    ]
    for key, message, expected in published:
        if hmac_hex(key, message) != expected:
            raise SystemExit('openssl does not reproduce RFC 4231; no vectors were written.')
