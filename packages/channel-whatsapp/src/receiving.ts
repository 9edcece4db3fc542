import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChannelContext } from '@parley/channels';
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import type { ChatDirectory } from './chats.ts';
import type { RawMessage } from './content.ts';
import { EncryptedMessages } from './decrypt.ts';
import { admitMessage, createRawMessage, parseMessage } from './intake.ts';
import type { ContactNames } from './names.ts';
import { classifyStanza, listenForNotices, recordIgnoredStanza } from './notices.ts';
import type { ContactDirectory, GroupCache, PersonIds } from './people.ts';
import type { RecentMessageCache } from './quotes.ts';
import { listResentMessages } from './resent.ts';
import type { WhatsAppSettings } from './settings.ts';

interface ReceiverDeps {
  readonly context: ChannelContext<WhatsAppSettings>;
  /** All ids of the account; empty before it is linked. */
  readonly me: () => PersonIds;
  readonly contacts: ContactDirectory;
  readonly recent: RecentMessageCache;
  readonly groups: GroupCache;
  readonly chats: ChatDirectory;
  readonly names: ContactNames;
  /** The open connection; undefined while there is none. */
  readonly socket: () => WASocket | undefined;
  /** Closes the connection, so that nothing more is acknowledged. */
  readonly breakOff: (reason: unknown) => void;
}

/**
 * Handles everything that the account receives: decrypted messages, stanzas without content,
 * notices and calls.
 */
export interface Receiver {
  readonly encrypted: EncryptedMessages;
  /** Called with each message stanza before Baileys handles it; see `openSocket`. */
  heard(stanza: BinaryNode, socket: WASocket): Promise<void> | undefined;
  /** Starts listening to a new socket. */
  listen(socket: WASocket): void;
}

export function createReceiver(deps: ReceiverDeps): Receiver {
  const { context, names, breakOff } = deps;
  const { clock, log } = context;
  // Messages are admitted inside Baileys' transactions, but the core's own writes must not become
  // part of them.
  const outside = AsyncLocalStorage.snapshot();
  const intake = { ...deps, log, read: (raw: RawMessage) => markRead(deps, encrypted, raw) };
  const encrypted = new EncryptedMessages({
    admit: async (envelope, plain, known) => {
      const raw = await parseMessage(envelope, plain, known, clock);
      if (raw === undefined) return;
      for (const { envelope: before, ...decoded } of listResentMessages(raw, deps.me())) {
        const resent = await createRawMessage(before, decoded, known, clock);
        if (resent !== undefined) await outside(() => admitMessage(intake, resent, known));
      }
      await outside(() => admitMessage(intake, raw, known));
    },
    unreadable: (attrs) => {
      void outside(() =>
        recordIgnoredStanza({ context, log }, { tag: 'message', attrs }, UNDECRYPTABLE),
      );
    },
    breakOff,
  });
  const admitUnread = async ({ attrs }: BinaryNode, unread: string, socket: WASocket) => {
    const known = socket.signalRepository.lidMapping;
    const raw = await createRawMessage(attrs, { content: {}, unread }, known, clock);
    if (raw !== undefined) await admitMessage(intake, raw, known);
  };
  const notices = {
    context,
    log,
    nameOf: (jid: string) => names.of(jid),
    admit: (raw: RawMessage, { signalRepository }: WASocket) =>
      admitMessage(intake, raw, signalRepository.lidMapping),
  };
  return {
    encrypted,
    heard(stanza, socket) {
      const unseen = classifyStanza(stanza);
      if (unseen?.kind === 'ignored')
        void recordIgnoredStanza({ context, log }, stanza, unseen.reason);
      return unseen?.kind === 'unread' ? admitUnread(stanza, unseen.what, socket) : undefined;
    },
    listen(socket) {
      names.listen(socket);
      listenForNotices(socket, notices);
    },
  };
}

/** The person is not notified, because a readable copy usually follows within a second. */
const UNDECRYPTABLE = "it could not be decrypted, so the sender's phone is asked to send it again";

function markRead(
  { context: { settings, log }, socket }: ReceiverDeps,
  encrypted: EncryptedMessages,
  { chat: remoteJid, id, participant }: RawMessage,
): void {
  if (!settings.readReceipts) return;
  const key = { remoteJid, id, fromMe: false, ...(participant && { participant }) };
  // A read receipt also acknowledges the message, so it must wait until the session is saved.
  const reading = encrypted.settled().then(() => socket()?.readMessages([key]));
  reading.catch(() => log.debug({}, 'a message could not be marked as read'));
}
