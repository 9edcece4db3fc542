import { reasonOf } from '@parley/core';
import type { AccountName, AccountRights } from './account-rights.ts';

export interface PassOnDeps {
  readonly name: AccountName;
  readonly rights: AccountRights;
  /** Passes a request on to the other gateway: it was authorized here already, or its path is public. */
  readonly token: string;
}

/** Says that a request was passed on once: a second time would be a circle. */
const MARK = 'x-parley-passed-on';
const WITHIN_MS = 20_000;

/**
 * A request for an account that another gateway is connected as: that one answers. So what a platform
 * calls about is taken in one place and in its order, whichever gateway it reaches. While it is not
 * known which one that is, 503 makes the caller try again.
 */
export async function proxyToOwner(
  request: Request,
  { name, rights, token }: PassOnDeps,
): Promise<Response> {
  const holder = request.headers.has(MARK) ? null : await rights.holder(name).catch(() => null);
  if (holder === null) return retryLater('No gateway serves this account just now.');
  const { pathname, search } = new URL(request.url);
  const headers = new Headers(request.headers);
  for (const ours of ['host', 'cookie', 'origin', 'connection', 'content-length'])
    headers.delete(ours);
  headers.set('authorization', `Bearer ${token}`);
  headers.set(MARK, '1');
  const { method } = request;
  const body = method === 'GET' || method === 'HEAD' ? null : await request.arrayBuffer();
  try {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(WITHIN_MS)]);
    return await fetch(`${holder.address}${pathname}${search}`, { method, headers, body, signal });
  } catch (error) {
    return retryLater(`The gateway that serves this account does not answer (${reasonOf(error)}).`);
  }
}

function retryLater(reason: string): Response {
  return new Response(`${reason}\n`, { status: 503, headers: { 'retry-after': '2' } });
}
