#!/usr/bin/env python3
"""Adds one vector to signature-vectors.json.

python3 openapi/add-vector.py vector.json    # or from the standard input

The vector is JSON as in README.md, with `{digest}` in place of each digest, and one of two more members: `fields`, the five
signed strings in the order of protocol 5.2, or `message`, the signed string. A member `key` signs with another key than the
first of the options. The `openssl` command computes the digest, and nothing else is computed: a vector is refused unless the
second verifier returns the verdict that it expects.
"""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VECTORS = HERE / 'signature-vectors.json'
END = '\n  ]\n}\n'

sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / 'proofs' / 'fuzz'))
from second_verifier import NAMES, difference  # noqa: E402


def digest_of(message: str, key: str) -> str:
    mac = ['-mac', 'HMAC', '-macopt', f'hexkey:{key.encode().hex()}']
    command = ['openssl', 'dgst', '-sha256', *mac]
    output = subprocess.run(command, input=message.encode(), capture_output=True, check=True).stdout
    return output.decode().split()[-1]


def message_of(fields: list[str] | None) -> str:
    if fields is None or len(fields) != len(NAMES):
        sys.exit(f'A vector with {{digest}} needs `message`, or `fields` with {len(NAMES)} strings.')
    return ':'.join(fields)


def with_digest(given: dict) -> dict:
    fields, message, key = (given.pop(name, None) for name in ('fields', 'message', 'key'))
    text = json.dumps(given)
    if '{digest}' not in text:
        return given
    options = given['options']
    signing_key = key or options.get('signing_key') or options['signing_keys'][0]['key']
    signed = message_of(fields) if message is None else message
    return json.loads(text.replace('{digest}', digest_of(signed, signing_key)))


def main() -> None:
    text = Path(sys.argv[1]).read_text(encoding='utf-8') if len(sys.argv) > 1 else sys.stdin.read()
    vector = with_digest(json.loads(text))
    file = VECTORS.read_text(encoding='ascii')
    if any(one['name'] == vector['name'] for one in json.loads(file)['vectors']):
        sys.exit(f'There is a vector named "{vector["name"]}" already.')
    if found := difference(vector):
        sys.exit(f'The second verifier returns another verdict. {found}')
    if not file.endswith(END):
        sys.exit(f'{VECTORS.name} does not end as expected.')
    VECTORS.write_text(f'{file.removesuffix(END)},\n    {json.dumps(vector)}{END}', encoding='ascii', newline='\n')
    print(f'Added "{vector["name"]}".')


if __name__ == '__main__':
    main()
