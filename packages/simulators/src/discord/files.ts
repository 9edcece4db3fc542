import type { ServerResponse } from 'node:http';
import type { MessageForm } from './message-form.ts';
import { hasBotPermission } from './permissions.ts';
import { createMissingPermissionsRefusal, Refusal, type RestCall } from './request.ts';
import type { WireAttachment, WireMessage } from './wire.ts';
import type { Channel, World } from './world.ts';

/** The upload limit of a guild without boosts. */
const LARGEST_FILE_BYTES = 10 * 1024 * 1024;
const SIGNED_FOR_MS = 24 * 60 * 60 * 1000;

export interface NewFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly type?: string | undefined;
  readonly description?: string | undefined;
}

/** Stores a file and gives it a signed address that expires. */
export function storeFile(world: World, channelId: string, file: NewFile): WireAttachment {
  const id = world.ids.next();
  const filename = file.name.replaceAll(/[^\p{L}\p{N}._-]/gu, '_');
  const type = file.type || 'application/octet-stream';
  const expiresAt = world.clock() + SIGNED_FOR_MS;
  world.files.set(id, { name: filename, type, bytes: file.bytes, expiresAt });
  const url = `${world.fileBase}/attachments/${channelId}/${id}/${encodeURIComponent(filename)}?${createSignature(id, expiresAt)}`;
  return {
    id,
    filename,
    size: file.bytes.length,
    url,
    proxy_url: url,
    content_type: type,
    ...(file.description === undefined ? {} : { description: file.description }),
  };
}

/** A message with fresh addresses for files whose signatures have expired. */
export function refreshSignatures<T extends WireMessage>(world: World, message: T): T {
  const expiresAt = world.clock() + SIGNED_FOR_MS;
  const attachments = message.attachments.map((attachment) => {
    const file = world.files.get(attachment.id);
    if (file === undefined || file.expiresAt > world.clock()) return attachment;
    world.files.set(attachment.id, { ...file, expiresAt });
    const url = attachment.url.replace(/\?.*$/, `?${createSignature(attachment.id, expiresAt)}`);
    return { ...attachment, url, proxy_url: url };
  });
  return { ...message, attachments };
}

/**
 * Returns the files uploaded with a call; `files[n]` is described by the attachment with id n.
 * @throws Refusal with code 50013 if the permission is missing, or 40005 if a file is too large
 */
export async function receiveFiles(
  world: World,
  channel: Channel,
  call: RestCall,
  form: MessageForm,
): Promise<WireAttachment[]> {
  if (call.files.size > 0 && !hasBotPermission(world, channel, 'attach'))
    throw createMissingPermissionsRefusal();
  const received: WireAttachment[] = [];
  for (const [field, file] of call.files) {
    if (file.size > LARGEST_FILE_BYTES) throw new Refusal(413, 40005, 'Request entity too large');
    const described = form.attachments?.find(({ id }) => field === `files[${id}]`);
    received.push(
      storeFile(world, channel.id, {
        name: described?.filename ?? file.name,
        bytes: new Uint8Array(await file.arrayBuffer()),
        type: file.type,
        description: described?.description,
      }),
    );
  }
  return received;
}

/** Serves `/attachments/<channel>/<file>/<name>` while the signature is valid. */
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

function createSignature(id: string, expiresAt: number): string {
  return `ex=${Math.floor(expiresAt / 1000).toString(16)}&hm=${id}`;
}
