import { expect, test } from 'vitest';
import { takeHttpAnswer } from '../src/http-answer.ts';

const declared = 'HTTP/1.1 401 Unauthorized\r\nAllow: GET\r\nallow: POST\r\nContent-Length: 3\r\n\r\nabc';
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n';

test.each([declared, chunked])('an answer is removed from the text once it is complete: %j', (text) => {
  for (let length = 0; length < text.length; length++)
    expect(takeHttpAnswer(text.slice(0, length), {})).toBeUndefined();
  expect(takeHttpAnswer(`${text}HTTP/1.1`, {})).toMatchObject({ answer: { body: 'abc' }, rest: 'HTTP/1.1' });
});

test('a repeated header is distinguished from a joined one', () => {
  expect(takeHttpAnswer(declared, {})?.answer.headers.get('allow')).toBe('GET | POST');
});

test('what follows an answer to HEAD is kept, so that a body there is noticed', () => {
  expect(takeHttpAnswer(declared, { isHead: true })).toMatchObject({ answer: { body: '' }, rest: 'abc' });
});

test('an answer without a length ends with its connection', () => {
  const text = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nabc';
  expect(takeHttpAnswer(text, {})).toBeUndefined();
  expect(takeHttpAnswer(text, { isClosed: true })).toMatchObject({ answer: { status: 400, body: 'abc' } });
});

test('what is not an HTTP answer is refused', () => {
  expect(() => takeHttpAnswer('SMTP\r\n\r\n', {})).toThrow('not an HTTP/1.1 answer');
});
