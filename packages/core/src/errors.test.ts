import { describe, expect, it } from 'vitest';
import { ChannelError } from './channel.ts';
import { ParleyError, reasonOf } from './errors.ts';

class KitchenError extends ParleyError {}

describe('a Parley error', () => {
  it('gives programs its code and people a remedy, under the name of its class', () => {
    const cause = new Error('smoke');
    const init = { code: 'oven-hot', message: 'The oven is hot. Wait.', retryable: true, cause };
    const error = new KitchenError(init);
    expect(error).toMatchObject({ name: 'KitchenError', ...init });
    expect(error).toBeInstanceOf(ParleyError);
    expect(String(error)).toBe('KitchenError: The oven is hot. Wait.');
  });

  it.each([
    [{ kind: 'rate-limited', retryAfterMs: 1, scope: 'chat' }, true],
    [{ kind: 'transient' }, true],
    [{ kind: 'unknown-outcome' }, false],
    [{ kind: 'gone' }, false],
    [{ kind: 'forbidden' }, false],
    [{ kind: 'refused' }, false],
    [{ kind: 'refused-format' }, false],
  ] as const)('from a channel with the failure %o can be retried: %s', (failure, retryable) => {
    const error = new ChannelError(failure, 'No.');
    expect(error).toMatchObject({ code: `channel-${failure.kind}`, retryable, failure });
  });
});

describe('the reason taken from any thrown value', () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;
  it.each([
    [new Error('an error'), 'an error'],
    ['a string', 'a string'],
    [{ code: 7 }, '{"code":7}'],
    [undefined, 'undefined'],
    [null, 'null'],
    [circle, '[object Object]'],
    [7n, '[object BigInt]'],
    [Symbol('s'), 'Symbol(s)'],
  ])('is converted to text: %o', (thrown, text) => {
    expect(reasonOf(thrown)).toBe(text);
  });
});
