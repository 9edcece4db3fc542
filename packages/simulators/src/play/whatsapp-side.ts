import type { Person } from '../whatsapp/people.ts';
import { silenceLibsignal } from '../whatsapp/quiet.ts';
import type { Attachment } from '../whatsapp/read-content.ts';
import { startWhatsAppDouble } from '../whatsapp/start-whatsapp-double.ts';
import type { VisibleMessage } from '../whatsapp/transcript.ts';
import type { WhatsAppDouble } from '../whatsapp/whatsapp-double.ts';
import { renderMarkedLines } from './draw/marked-lines.ts';
import type { PlayClock } from './play-clock.ts';
import {
  type PlatformBackend,
  type PlatformFile,
  type PlatformMessage,
  type PlatformPersonMessage,
  type PlatformReaction,
  SHOWN_CALLS,
} from './side.ts';

const FIRST_NUMBER = 491_700_000_001;
/** The time for which phones show typing. */
const TYPING_MS = 10_000;

/**
 * The WhatsApp side with the data for linking a client: a phone that scans codes, and the
 * certificate of the file host.
 */
export interface WhatsAppBackend extends PlatformBackend {
  scan(code: string): void;
  readonly certificate: string;
}

export async function startWhatsAppBackend(
  clock: PlayClock,
  port: number | undefined,
): Promise<WhatsAppBackend> {
  const unhush = silenceLibsignal();
  const double = await startWhatsAppDouble({
    clock: clock.now,
    owner: { name: 'Parley' },
    ...(port !== undefined && { port }),
  });
  return new WhatsAppPlayerBackend(double, clock, unhush);
}

class WhatsAppPlayerBackend implements WhatsAppBackend {
  readonly platform = 'whatsapp';
  readonly can = { delete: true, press: false, thread: false, block: false };
  readonly faults: PlatformBackend['faults'];
  readonly #double: WhatsAppDouble;
  readonly #clock: PlayClock;
  readonly #unhush: () => void;
  readonly #people: Person[] = [];
  /** The number of typing signals, the number of messages, and the time of the last signal. */
  readonly #typing = new Map<string, { readonly signs: number; readonly at: number }>();
  readonly #files = new Map<string, PlatformFile>();

  constructor(double: WhatsAppDouble, clock: PlayClock, unhush: () => void) {
    this.#double = double;
    this.#clock = clock;
    this.#unhush = unhush;
    this.faults = createFaultActions(double);
  }

  get bot() {
    return `@${this.#double.me.name}`;
  }

  get settings() {
    return { url: this.#double.url };
  }

  get changes() {
    return this.#double.transcript.changes;
  }

  get certificate() {
    return String(this.#double.media.certificate);
  }

  scan(code: string): void {
    if (this.#double.state() === 'pairing') this.#double.scan(code);
  }

  addPerson(name: string, nth: number): string {
    const person = this.#double.addPerson({ name, number: String(FIRST_NUMBER + nth) });
    this.#people.push(person);
    return person.id;
  }

  directChat(person: string): string {
    return person;
  }

  addGroup(subject: string, members: readonly string[]): string {
    return this.#double.addGroup({ subject, members: [...members, this.#double.me.id] }).jid;
  }

  setBot({ chat }: { readonly chat: string }, isIn: boolean): void {
    const who = [this.#double.me.id];
    this.#double.changeGroup(chat, { kind: isIn ? 'add' : 'remove', who });
  }

  async say({ chat, from, text, mention, replyTo, file }: PlatformPersonMessage): Promise<string> {
    if (file === undefined) {
      const mentions = mention ? [this.#double.me.id] : undefined;
      return this.#double.say({ chat, from, text, quote: replyTo, mentions });
    }
    const id = await this.#double.acts.sendFile({
      ...{
        chat,
        from,
        kind: toAttachmentKind(file.type),
        mimetype: file.type,
        fileName: file.name,
      },
      content: Buffer.from(file.bytes),
      ...(text !== '' && { caption: text }),
    });
    this.#files.set(id, { name: file.name, type: file.type, read: () => file.bytes });
    return id;
  }

  edit(chat: string, id: string, from: string, text: string): Promise<string> {
    return this.#double.acts.reword({ chat, from, id, text });
  }

  delete(chat: string, id: string, from: string): Promise<string> {
    return this.#double.acts.takeBack({ chat, from, id });
  }

  react({ chat, message: id, from, emoji, gone }: PlatformReaction): Promise<string> {
    return this.#double.acts.react({ chat, from, id, emoji: gone ? '' : emoji });
  }

  clearFaults(): void {
    this.#double.clearFaults();
    this.#double.silence(false);
  }

  messages(chat: string): PlatformMessage[] {
    return this.#double.conversation(chat).map((message) => this.#message(message));
  }

  isTyping(chat: string): boolean {
    const ids = this.#idsOf(chat);
    const signs = this.#double.stanzas('chatstate').filter(({ attrs }) => ids.has(attrs.to ?? ''));
    const known = this.#typing.get(chat);
    const now = this.#clock.now();
    const at = known?.signs === signs.length ? known.at : now;
    this.#typing.set(chat, { signs: signs.length, at });
    const last = signs.at(-1)?.content;
    const isComposing = Array.isArray(last) && last[0]?.tag === 'composing';
    return isComposing && now - at < TYPING_MS;
  }

  commands() {
    return [];
  }

  calls() {
    const { problems } = this.#double.transcript;
    const sends = this.#double.sends().map(({ at, to, outcome }) => ({
      ...{ at, call: `message to ${to}`, outcome: String(outcome) },
      isTrouble: outcome !== 'acked',
    }));
    const odd = problems.map((problem) => ({
      ...{ at: this.#clock.now(), call: 'an unsupported stanza' },
      ...{ outcome: String(problem), isTrouble: true },
    }));
    return [...sends, ...odd].slice(-SHOWN_CALLS);
  }

  async close(): Promise<void> {
    await this.#double.close();
    this.#unhush();
  }

  #message(message: VisibleMessage): PlatformMessage {
    const { id, at, from, formatted, edits, deleted, quoted, attachment } = message;
    const html = renderMarkedLines(formatted.lines);
    const text = formatted.visible;
    const file = this.#files.get(id) ?? (attachment && this.#fileOf(attachment));
    return {
      ...{ id, at, from, isEdited: edits > 0, isDeleted: deleted, buttons: [] },
      ...{ text: this.#named(text), html: this.#named(html) },
      ...(quoted !== undefined && { replyTo: quoted }),
      files: file === undefined || deleted ? [] : [file],
      reactions: [...message.reactions].map(([person, emoji]) => [emoji, person] as const),
      violations:
        from === 'bot' ? formatted.violations.map(({ kind, text }) => `${kind}: ${text}`) : [],
    };
  }

  /** Mentions are written as the digits of a number or LID; phones show the name instead. */
  #named(text: string): string {
    return [this.#double.me, ...this.#people].reduce((named, { name, pn = '', lid }) => {
      const digits = [pn, lid].flatMap((jid) => jid.split('@')[0] || []);
      return digits.reduce((all, one) => all.replaceAll(`@${one}`, `@${name}`), named);
    }, text);
  }

  #idsOf(chat: string): Set<string> {
    const person = this.#people.find(({ id }) => id === chat);
    return new Set([chat, person?.pn ?? chat, person?.lid ?? chat]);
  }

  #fileOf(attachment: Attachment): PlatformFile {
    const { kind, mimetype = 'application/octet-stream', fileName = kind } = attachment;
    return { name: fileName, type: mimetype, read: () => this.#double.open(attachment) };
  }
}

function toAttachmentKind(type: string): Attachment['kind'] {
  const [kind] = type.split('/');
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'document';
}

function createFaultActions(double: WhatsAppDouble): PlatformBackend['faults'] {
  const inChat = (chat: string | undefined) => (chat === undefined ? {} : { chat });
  return {
    'rate-limit': ({ chat, times }) =>
      double.fault({ kind: 'refuse', code: 429, times, ...inChat(chat) }),
    'server-error': ({ chat, times }) =>
      double.fault({ kind: 'refuse', code: 503, times, ...inChat(chat) }),
    'reset-before': ({ chat, times }) =>
      double.fault({ kind: 'drop', lost: true, times, ...inChat(chat) }),
    'reset-after': ({ chat, times }) => double.fault({ kind: 'drop', times, ...inChat(chat) }),
    hang: ({ chat, times }) => double.fault({ kind: 'no-ack', times, ...inChat(chat) }),
    duplicate: ({ chat }) => double.fault({ kind: 'twice', ...inChat(chat) }),
    silence: () => double.silence(true),
    drop: () => double.drop(),
    'session-lost': () => double.kick(515),
  };
}
