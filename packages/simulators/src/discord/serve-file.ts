import type { ServerResponse } from 'node:http';
import type { World } from './world.ts';

/** Answers `/attachments/<channel>/<file>/<name>` while the signature is good. */
export function serveFile(world: World, url: URL, response: ServerResponse): void {
  const [, , , id = ''] = url.pathname.split('/');
  const file = world.files.get(id);
  const signed = url.searchParams.get('hm') === id;
  if (file === undefined || !signed || file.expiresAt <= world.clock()) {
    response.writeHead(404, { 'content-type': 'text/plain' });
    response.end('This content is no longer available.');
    return;
  }
  response.writeHead(200, { 'content-type': file.type, 'content-length': file.bytes.length });
  response.end(file.bytes);
}
