import { useEffect, useState } from 'preact/hooks';
import { fieldsOf } from '../chat/wire.ts';
import { request } from '../session.ts';
import { textOf } from './read-prompt.ts';

/** What the gateway has said so far. */
export type Answer<Value> =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'here'; readonly value: Value }
  | { readonly kind: 'failed'; readonly reason: string };

const WAITING = { kind: 'waiting' } as const;

/**
 * Asks `path` and reads the answer; asks again when `path` or `round` changes. What was there stays until
 * the new answer has come, unless it belongs to another path. `path` null asks nothing.
 */
export function useAnswer<Value>(
  path: string | null,
  read: (data: unknown) => Value | null,
  round = 0,
): Answer<Value> {
  const [had, setHad] = useState<{ path: string | null; answer: Answer<Value> }>({
    path: null,
    answer: WAITING,
  });
  useEffect(() => {
    if (path === null) return;
    let isOver = false;
    ask(path, read).then((answer) => {
      if (!isOver) setHad({ path, answer });
    });
    return () => {
      isOver = true;
    };
  }, [path, round]);
  return had.path === path ? had.answer : WAITING;
}

/** Asks once. Never rejects: what went wrong is told in words for people. */
export async function ask<Value>(
  path: string,
  read: (data: unknown) => Value | null,
): Promise<Exclude<Answer<Value>, { kind: 'waiting' }>> {
  try {
    const response = await request(path);
    if (response.status === 401) return failed('This browser is not signed in any more.');
    if (response.status === 404) return failed('That turn is not kept any more.');
    if (response.status === 400) return failed(textOf(fieldsOf(await response.json()).error));
    if (!response.ok) return failed('The gateway could not say; its log tells why.');
    const value = read(await response.json());
    return value === null ? failed('The answer was not understood.') : { kind: 'here', value };
  } catch {
    return failed('The gateway does not answer. It may be starting again.');
  }
}

/** Has the gateway do something. Null: done; else why not, in words for people. Never rejects. */
export async function act(
  path: string,
  method: 'POST' | 'DELETE' = 'POST',
): Promise<string | null> {
  try {
    const response = await request(path, { method });
    if (response.ok) return null;
    if (response.status === 401) return 'This browser is not signed in any more.';
    if (response.status >= 500) return 'The gateway could not do it; its log tells why.';
    return textOf(fieldsOf(await response.json()).error);
  } catch {
    return 'The gateway does not answer. It may be starting again.';
  }
}

function failed(reason: string) {
  return { kind: 'failed', reason } as const;
}
