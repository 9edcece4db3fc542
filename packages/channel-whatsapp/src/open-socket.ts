import type { Logger } from '@parley/contracts';
import {
  type AuthenticationCreds,
  DEFAULT_CONNECTION_CONFIG,
  makeCacheableSignalKeyStore,
  makeWASocket,
  type SignalKeyStore,
  type WASocket,
} from '@whiskeysockets/baileys';
import { z } from 'zod';
import { baileysLogger } from './baileys-logger.ts';
import type { Groups } from './groups.ts';
import { isGroup, personJid } from './jids.ts';
import { orderSocket } from './order-socket.ts';
import type { SealedMail } from './sealed-mail.ts';
import type { SentMessages } from './sent-messages.ts';
import type { WhatsAppSettings } from './settings.ts';

/** What a socket is made of. */
export interface SocketParts {
  readonly settings: WhatsAppSettings;
  readonly keys: SignalKeyStore;
  readonly mail: SealedMail;
  readonly sent: SentMessages;
  readonly groups: Groups;
  readonly log: Logger;
}

const Version = z.tuple([z.coerce.number(), z.coerce.number(), z.coerce.number()]);

/**
 * A Baileys socket with our stores and our way of opening mail. Does not show
 * as online (the phone would stop ringing), and neither opens nor keeps what is no chat.
 */
export function openSocket(parts: SocketParts, creds: AuthenticationCreds): WASocket {
  const { settings, keys, mail, sent, groups, log } = parts;
  const logger = baileysLogger(log);
  const { version } = settings;
  const socket = makeWASocket({
    waWebSocketUrl: settings.url,
    browser: [settings.browser, 'Chrome', '1.0'],
    ...(version === undefined ? {} : { version: Version.parse(version.split('.')) }),
    logger,
    // A cache of its own for each socket: what could not be written must not be remembered.
    auth: { creds, keys: makeCacheableSignalKeyStore(keys, logger) },
    makeSignalRepository: mail.wrap(DEFAULT_CONNECTION_CONFIG.makeSignalRepository),
    getMessage: async ({ id }) => (id ? sent.find(id) : undefined),
    cachedGroupMetadata: (jid) => groups.find(jid),
    shouldIgnoreJid: (jid) => !isGroup(jid) && personJid(jid) === undefined,
    // What stays unwritten ends the connection and comes again; trying for long would only hold it up.
    transactionOpts: { maxCommitRetries: 2, delayBetweenTriesMs: 50 },
    syncFullHistory: false,
    markOnlineOnConnect: false,
    emitOwnEvents: false,
  });
  groups.listen(socket);
  orderSocket(socket.ws, (stanza) => mail.note(stanza), breakOff(socket));
  return socket;
}

function breakOff(socket: WASocket): (reason: unknown) => void {
  return (reason) => void socket.end(reason instanceof Error ? reason : new Error('broken off'));
}
