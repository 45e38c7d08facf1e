"""Decision D4: the join with ':' is ambiguous, so at most one named field may contain one."""

from vector import KEY, NAMES, OTHER_KEY, SIGNED, body, callback, data, family, fields, header, joined, no, ok, query
from vector import redirect

AMBIGUOUS = no('ambiguous', authentic=True)
MERCHANT = {'colon_in': 'merchant_reference'}
ORDERS = '^ORD-[0-9]+$'
INTERNAL = {'colon_in': 'internal_reference', 'merchant_reference_pattern': ORDERS}
POLICIES = [
    ('by default', {}, None),
    ('colonIn merchant', MERCHANT, 'merchant_reference'),
    ('colonIn internal', INTERNAL, 'internal_reference'),
]
colon = family('colon: ', rule='D4', threat='A3')


def case(name: str, expect: dict, signed: dict, options: dict, **more) -> None:
    colon(name, expect=expect, signed=signed, options=options, **more)


def add_all() -> None:
    each_field()
    shifts()
    shapes()
    merchant_references()


def each_field() -> None:
    for label, options, allowed in POLICIES:
        for field in NAMES:
            signed = fields(**{field: SIGNED[field] + ':x'})
            case(f'one in {field}, {label}', ok(signed) if field == allowed else AMBIGUOUS, signed, options)
    for label, options, _ in POLICIES:
        signed = fields(merchant_reference='A:B', internal_reference='C:D')
        case(f'one in both references, {label}', AMBIGUOUS, signed, options)
    for field in NAMES:
        signed = fields(**{field: SIGNED[field] + ':x'})
        case(f'one in {field} under a wrong key', no('mismatch'), signed, {}, signature=header(signed, OTHER_KEY))


def shifts() -> None:
    # A customer pays 1 for the order "ORD-9999:x"; the same signature must not pass for the order "ORD-9999".
    paid = fields(merchant_reference='ORD-9999:x', internal_reference='INT-77')
    shifted = fields(merchant_reference='ORD-9999', internal_reference='x:INT-77')
    assert joined(paid) == joined(shifted)
    for label, options, allowed in POLICIES:
        expect = ok(paid) if allowed == 'merchant_reference' else AMBIGUOUS
        case(f'reference as paid, {label}', expect, paid, options)
        expect = ok(shifted) if allowed == 'internal_reference' else AMBIGUOUS
        case(f'reference shifted, {label}', expect, shifted, options, signature=header(paid))

    # The tail: a failed transaction whose type is made to swallow the status.
    reference = {'merchant_reference': 'ORD-7', 'internal_reference': 'B:COLLECTION:COMPLETED'}
    failed = fields(**reference, transaction_type='X', transaction_status='FAILED')
    swapped = fields(merchant_reference='ORD-7', internal_reference='B', transaction_status='COMPLETED:X:FAILED')
    assert joined(failed) == joined(swapped)
    for label, options, allowed in POLICIES:
        case(f'status swapped by a tail shift, {label}', AMBIGUOUS, swapped, options, signature=header(failed))
        expect = ok(failed) if allowed == 'internal_reference' else AMBIGUOUS
        case(f'the failed original of the tail shift, {label}', expect, failed, options)

    original = fields(merchant_reference='completed:ORD-1')
    moved = fields(event='transaction.completed:completed', merchant_reference='ORD-1')
    assert joined(original) == joined(moved)
    for label, options, _ in POLICIES:
        case(f'event shifted, {label}', AMBIGUOUS, moved, options, signature=header(original))

    kind = fields(internal_reference='INT-77:COLLECTION', transaction_type='COMPLETED', transaction_status='')
    plain = fields(transaction_status='COMPLETED:')
    assert joined(kind) == joined(plain)
    case('status with an empty tail', AMBIGUOUS, plain, {}, signature=header(kind))
    signature = header(fields(merchant_reference='A:B'))
    changed = fields(merchant_reference='A:C')
    case('an unrelated field change is a mismatch', no('mismatch'), changed, {}, signature=signature)


def shapes() -> None:
    for name, text in [
        ('leading', ':ORD'),
        ('trailing', 'ORD:'),
        ('alone', ':'),
        ('doubled', 'O::D'),
        ('many', ':' * 64),
    ]:
        signed = fields(merchant_reference=text)
        case(f'{name}, colonIn merchant', ok(signed), signed, MERCHANT)
        case(f'{name}, by default', AMBIGUOUS, signed, {})
    for name, text in [
        ('full-width colon', 'ORD\uff1a1'),
        ('ratio sign', 'ORD\u22361'),
        ('modifier colon', 'ORD\ua7891'),
        ('semicolon', 'ORD;1'),
    ]:
        colon(f'{name} is not a colon', signed=fields(merchant_reference=text))
    signed = fields(merchant_reference='ORD:1')
    colon('written as an escape', body(signed).replace('ORD:1', 'ORD\\u003a1'), AMBIGUOUS, signed=signed)
    colon('in a parsed body', expect=AMBIGUOUS, signed=signed, body_json=data(signed))
    colon('in a parsed body, colonIn merchant', signed=signed, body_json=data(signed), options=MERCHANT)
    callback('colon: in unsigned fields is text', body(customer_name='A:B', status_message='::'), rule='D4')
    colon('none at all, colonIn merchant', options=MERCHANT)
    colon(
        'an expired key wins',
        expect=no('key_expired'),
        signed=signed,
        threat='A20',
        note='The decisions leave the order open. An expired key proves nothing, so nothing is authentic.',
        options={'signing_keys': [{'id': 'old', 'key': KEY, 'not_after': '2023-11-01T00:00:00Z'}]},
    )


def merchant_references() -> None:
    """Customers may be able to write ':' into a reference: then exactly one split may be a merchant's reference."""

    def case(name: str, expect: dict, signed: dict, field: str, pattern: str, **more) -> None:
        options = {'colon_in': field, 'merchant_reference_pattern': pattern}
        add_one(name, expect=expect, signed=signed, options=options, **more)

    add_one = family('merchant reference: ', rule='D4', threat='A32')
    merchant, internal = 'merchant_reference', 'internal_reference'
    with_part = '^ORD-[0-9]+:[0-9]+$'
    both = '^ORD-[0-9]+(:[0-9]+)?$'
    outside = fields(merchant_reference='ORD-9999', internal_reference='1:INT-77')
    inside = fields(merchant_reference='ORD-9999:1', internal_reference='INT-77')
    assert joined(outside) == joined(inside)
    case('no colon, the pattern fits', ok(), SIGNED, internal, ORDERS)
    case('no colon, the pattern does not fit', AMBIGUOUS, SIGNED, internal, '^INV-[0-9]+$')
    case('no colon, colonIn merchant, the pattern does not fit', AMBIGUOUS, SIGNED, merchant, '^INV-[0-9]+$')
    case('the shorter of two splits', ok(outside), outside, internal, ORDERS)
    case('the longer of two splits', ok(inside), inside, merchant, with_part)
    case('two splits satisfy it, internal reference with a colon', AMBIGUOUS, outside, internal, both)
    case('two splits satisfy it, merchant reference with a colon', AMBIGUOUS, inside, merchant, both)
    case('only the other split satisfies it, internal reference with a colon', AMBIGUOUS, outside, internal, with_part)
    case('only the other split satisfies it, merchant reference with a colon', AMBIGUOUS, inside, merchant, ORDERS)
    case('no split satisfies it', AMBIGUOUS, outside, internal, '^INV-')
    three = fields(internal_reference='a:b:c')
    case('one split of three', ok(three), three, internal, ORDERS)
    case('the first and the last of three splits', AMBIGUOUS, three, internal, '^ORD-1001(:a:b)?$')
    last = fields(merchant_reference='ORD-1001', internal_reference='a:')
    case('an empty rest is a split', AMBIGUOUS, last, internal, '^ORD-1001(:a)?$')
    empty = fields(merchant_reference='', internal_reference='ORD-1:x')
    case('an empty reference that satisfies it', ok(empty), empty, internal, '^$')
    case('it allows no colon in other fields', AMBIGUOUS, inside, internal, with_part)
    elsewhere = fields(transaction_status='COMPLETED:x')
    case('it allows no colon in the status', AMBIGUOUS, elsewhere, internal, ORDERS)
    case('a wrong key wins', no('mismatch'), outside, internal, both, signature=header(outside, OTHER_KEY))
    for name, expect, pattern in [
        ('one split satisfies', ok(outside), ORDERS),
        ('two splits satisfy', AMBIGUOUS, both),
    ]:
        name = f'redirect: {name} the pattern of merchant references'
        options = {'colon_in': internal, 'merchant_reference_pattern': pattern}
        redirect(name, query(outside), expect, rule='D4', threat='A32', options=options)
