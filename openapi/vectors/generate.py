#!/usr/bin/env python3
"""Writes ../signature-vectors.json. Needs Python 3.10 and the openssl command; users and tests need neither.

python3 openapi/vectors/generate.py           # write
python3 openapi/vectors/generate.py --check   # compare only; exit 1 when the file differs
"""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from cases import (  # noqa: E402
    body,
    coercion,
    colon,
    header,
    keys,
    redirect,
    redirect_names,
    redirect_text,
    timestamp,
    unicode,
    unsigned,
)
from digest import check_against_published_vectors, tool  # noqa: E402
from vector import vectors  # noqa: E402

GROUPS = [header, timestamp, coercion, colon, unicode, body, unsigned, keys, redirect, redirect_text, redirect_names]

TARGET = Path(__file__).resolve().parent.parent / 'signature-vectors.json'
DESCRIPTION = (
    'Callbacks and redirects of the payment service with the verdict that a verifier must give: '
    'docs/protocol.md §5.2, read with the refusals of this SDK. Every digest is literal and was made by digest_tool; a test '
    'computes nothing. The fields of a vector are described in README.md beside this file.'
)


def main() -> None:
    check_against_published_vectors()
    for group in GROUPS:
        group.add_all()
    names = [vector['name'] for vector in vectors]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise SystemExit(f'repeated names: {sorted(repeated)}')
    # ASCII only: no editor, no filter and no checkout can normalise what the vectors are about.
    lines = ',\n'.join('    ' + json.dumps(vector, ensure_ascii=True) for vector in vectors)
    text = (
        '{\n'
        f'  "description": {json.dumps(DESCRIPTION)},\n'
        f'  "digest_tool": {json.dumps(tool())},\n'
        f'  "vectors": [\n{lines}\n  ]\n'
        '}\n'
    )
    if sys.argv[1:] == ['--check']:
        written = json.loads(TARGET.read_text(encoding='utf-8'))
        # The version of openssl may differ from the one that wrote the file; the vectors may not.
        if written['vectors'] != vectors:
            raise SystemExit(f'{TARGET.name} is not what the generator gives; run it without --check.')
        print(f'{TARGET.name}: {len(vectors)} vectors, as generated')
        return
    TARGET.write_text(text, encoding='utf-8')
    accepted = sum(vector['expect']['ok'] for vector in vectors)
    print(f'{TARGET.name}: {len(vectors)} vectors, {accepted} to accept, {len(vectors) - accepted} to refuse')


if __name__ == '__main__':
    main()
