import { checkUrl, PUBLIC_ONLY, resolveHost } from './addresses.ts';
import { createPinnedLookup } from './fetch.ts';

/** Sends a request to the public internet; `maxBytes` limits the response. */
export type FetchPublic = (url: URL, init: RequestInit, maxBytes: number) => Promise<Response>;

/**
 * Sends one request to the public internet over https. The URL is checked like that of a page, and
 * the request is sent to exactly the address that was checked. Redirects are not followed.
 */
export const fetchPublic: FetchPublic = async (url, init, maxBytes) => {
  if (url.protocol !== 'https:') throw new Error(`${url.host} does not use https`);
  const port = url.port === '' ? 443 : Number(url.port);
  const at = await resolveHost(checkUrl(url.href, [port]), PUBLIC_ONLY);
  const { Agent, request } = process.getBuiltinModule('node:https');
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const sent = request(url, {
    method: init.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init.headers)),
    lookup: createPinnedLookup(at),
    agent: new Agent({ keepAlive: false }),
    ...(init.signal && { signal: init.signal }),
  });
  sent.on('error', reject);
  sent.once('response', async (response) => {
    const { statusCode: status = 502, headers } = response;
    if (status >= 300 && status < 400) {
      response.destroy();
      return reject(new Error(`${url.host} leads to another address, which is not followed`));
    }
    try {
      const type = headers['content-type'] ?? '';
      resolve(
        new Response(await readResponseBody(response, maxBytes), {
          status,
          headers: { 'content-type': type },
        }),
      );
    } catch (error) {
      reject(error);
    }
  });
  const body = init.body;
  sent.end(body === undefined || body === null ? undefined : String(body));
  return promise;
};

async function readResponseBody(
  response: AsyncIterable<Buffer> & { destroy(): void },
  maxBytes: number,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    size += chunk.length;
    if (size > maxBytes) {
      response.destroy();
      throw new Error(`it sent more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
