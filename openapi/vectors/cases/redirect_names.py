"""Decision D11: a known name comes once, in one spelling."""

from vector import NAMES, SIGNED, header, no, ok, query, redirect

BAD = no('query_malformed')


def refuse(name: str, text: str, **more) -> None:
    redirect(f'redirect names: {name}', BAD, text, threat='A14', **more)


def add_all() -> None:
    for field in NAMES:
        refuse(f'{field} twice, other first', f'{field}=OTHER&' + query())
        refuse(f'{field} twice, other last', query() + f'&{field}=OTHER')
        refuse(f'{field}[]', query() + f'&{field}[]=OTHER')
        refuse(f'{field}[x]', query() + f'&{field}[x]=OTHER')
    for field in NAMES[1:]:
        refuse(f'{field} flat and nested', query() + f'&payload[{field}]={SIGNED[field]}')
        refuse(f'payload[{field}] twice', query(nested=True) + f'&payload[{field}]=OTHER')
    refuse('merchant_reference, the same twice', query() + '&merchant_reference=ORD-1001')
    refuse('merchant_reference flat and nested, another value', query(nested=True) + '&merchant_reference=OTHER')
    refuse('event twice, once encoded', query() + '&%65vent=OTHER')
    refuse('event twice, once empty', query() + '&event=')
    refuse('event twice, once without =', query() + '&event')
    refuse('event[] instead of event', query().replace('event=', 'event[]='))
    refuse('event[0] instead of event', query().replace('event=', 'event[0]='))
    refuse('event%5B%5D instead of event', query().replace('event=', 'event%5B%5D='))
    refuse('payload[merchant_reference][]', query(nested=True) + '&payload[merchant_reference][]=x')
    refuse('payload[merchant_reference][x]', query(nested=True) + '&payload[merchant_reference][x]=y')
    refuse('payload[merchant_reference] twice, once encoded', query(nested=True) + '&payload%5Bmerchant_reference%5D=x')
    refuse('hmac_signature twice, the same', query() + f'&hmac_signature={header()}')
    refuse('hmac_signature twice, first empty', 'hmac_signature=&' + query())
    refuse('hmac_signature twice, last forged', query() + '&hmac_signature=t=1,s=' + '0' * 64)
    refuse('hmac_signature twice, once encoded', query() + f'&hmac%5Fsignature={header()}')
    refuse('hmac_signature[]', query() + f'&hmac_signature[]={header()}')
    refuse('hmac_signature[] instead', query().replace('hmac_signature=', 'hmac_signature[]='))
    known = 'The contract knows the name, signed or not: which of the two a program reads is not certain.'
    refuse('transaction_amount twice', query() + '&transaction_amount=500&transaction_amount=5000000', note=known)
    refuse(
        'transaction_amount flat and nested',
        query() + '&transaction_amount=500&payload[transaction_amount]=5000000',
        note=known,
    )
    refuse('transaction_amount[]', query() + '&transaction_amount[]=500', note=known)
    redirect('redirect names: unknown[] and unknown[x]', ok(), query() + '&tag[]=1&tag[]=2&tag[x]=3', rule='D9')
    redirect(
        'redirect names: event with something around it', ok(), query() + '&events=1&xevent=2&event.x=3', rule='D9'
    )
