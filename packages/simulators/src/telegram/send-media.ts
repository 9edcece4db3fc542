import type { BotAccount } from './account.ts';
import type { FileKind } from './files.ts';
import { readCaption } from './message-text.ts';
import { badRequest, Refusal } from './refusal.ts';
import type { RequestParams } from './request-params.ts';
import { placeNewMessage } from './send-methods.ts';
import type { WireMessage } from './wire.ts';

const MAX_PHOTO = 10 * 1024 * 1024;
const PICTURES = [
  [0xff, 0xd8],
  [0x89, 0x50, 0x4e, 0x47],
  [0x52, 0x49, 0x46, 0x46],
];

/** sendPhoto, sendDocument and their like: one file by multipart, a caption below it. */
export function sendMedia(kind: FileKind) {
  return async (account: BotAccount, params: RequestParams): Promise<WireMessage> => {
    const file = params.values[kind];
    if (!(file instanceof File)) {
      throw badRequest(`there is no ${kind} in the request`);
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    check(kind, bytes, account.files.maxUpload);
    const caption = readCaption(params);
    const stored = account.files.store({ kind, bytes, name: file.name });
    return placeNewMessage(account, params, { ...caption, ...stored }, { name: file.name, bytes });
  };
}

function check(kind: FileKind, bytes: Uint8Array, maxUpload: number): void {
  if (bytes.length === 0) throw badRequest('file must be non-empty');
  if (bytes.length > maxUpload) throw new Refusal(413, 'Request Entity Too Large');
  if (kind !== 'photo') return;
  if (bytes.length > MAX_PHOTO) throw badRequest('file is too big for a photo');
  const known = PICTURES.some((start) => start.every((byte, at) => bytes[at] === byte));
  if (!known) throw badRequest('IMAGE_PROCESS_FAILED');
}
