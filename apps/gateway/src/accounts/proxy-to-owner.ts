import { reasonOf } from '@parley/core';
import type { AccountName, AccountRights } from './account-rights.ts';

export interface ProxyDeps {
  readonly name: AccountName;
  readonly rights: AccountRights;
  /**
   * Authorizes the forwarded request at the other gateway. The forwarding gateway has already
   * authorized the request, or its path is public.
   */
  readonly token: string;
}

/**
 * Marks a forwarded request. Such a request must not be forwarded again, because that could cause a
 * loop.
 */
const MARK = 'x-parley-passed-on';
const WITHIN_MS = 20_000;

/**
 * Forwards a request for an account to the gateway that is connected as that account. In this way,
 * one gateway handles all requests from a platform in order, even if they reach different gateways.
 * While that gateway is unknown, the response is 503, so that the caller tries again.
 */
export async function proxyToOwner(
  request: Request,
  { name, rights, token }: ProxyDeps,
): Promise<Response> {
  const holder = request.headers.has(MARK) ? null : await rights.holder(name).catch(() => null);
  if (holder === null)
    return createRetryResponse('No gateway serves this account right now. Try again.');
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
    return createRetryResponse(
      `The gateway that serves this account does not answer (${reasonOf(error)}).`,
    );
  }
}

function createRetryResponse(reason: string): Response {
  return new Response(`${reason}\n`, { status: 503, headers: { 'retry-after': '2' } });
}
