import { randomBytes } from 'node:crypto';
import { aesEncryptGCM, type BinaryNode, hkdf, proto } from '@whiskeysockets/baileys';
import { type Account, seconds } from '../account.ts';
import type { Attachment } from '../read-content.ts';
import { child, node } from '../wire/nodes.ts';
import type { MediaHost } from './media-host.ts';

const { ResultType } = proto.MediaRetryNotification;

/**
 * The client asks the account's phone for a file that WhatsApp has thrown away: the phone puts it on
 * the host once more and says where, sealed with a key made of the file's own.
 */
export function sendFileAgain(
  account: Account,
  host: MediaHost,
  asked: BinaryNode,
  attachment: Attachment | undefined,
): BinaryNode {
  const { id = '' } = asked.attrs;
  const path = host.putBack(attachment?.directPath ?? '', attachment?.kind ?? 'document');
  const answer = proto.MediaRetryNotification.encode({
    stanzaId: id,
    result: path === undefined ? ResultType.NOT_FOUND : ResultType.SUCCESS,
    ...(path === undefined ? {} : { directPath: path }),
  }).finish();
  const key = hkdf(attachment?.mediaKey ?? Buffer.alloc(32), 32, {
    info: 'WhatsApp Media Retry Notification',
  });
  const iv = randomBytes(12);
  const sealed = aesEncryptGCM(answer, key, iv, Buffer.from(id));
  const attrs = { from: account.me.pn, type: 'mediaretry', id, t: seconds(account) };
  return node('notification', attrs, [
    node('encrypt', {}, [node('enc_p', {}, sealed), node('enc_iv', {}, iv)]),
    node('rmr', child(asked, 'rmr')?.attrs ?? {}),
  ]);
}
