import { createUniqueKey, slugify } from './keys.ts';
import type { PlayClock } from './play-clock.ts';
import type { PlatformBackend, PlatformFile, PlatformMessage } from './side.ts';
import {
  PLATFORM_NAMES,
  type Platform,
  PlayerAct,
  type PlayerActOf,
  type SimulatedMessage,
  type SimulatedWorld,
} from './world.ts';

/** A simulated platform with people, controlled by acts. */
export interface Simulator {
  readonly platform: SimulatedWorld['platform'];
  /** The settings (token and address) for a Parley account that connects to this platform. */
  readonly settings: Readonly<Record<string, unknown>>;
  /**
   * The owner in the format of the `owners` setting; `group` is a group that exists from the start.
   */
  readonly owner: string;
  readonly firstGroup: string;
  world(): SimulatedWorld;
  /**
   * Performs an act and resolves with the key of the object it created, if any; throws an error
   * with a readable reason.
   */
  act(act: PlayerAct): Promise<string | undefined>;
  /** Returns a file of a message by its index. */
  file(chat: string, message: string, index: number): PlatformFile | undefined;
  /**
   * Calls the watcher on every change and before each act; returns a function that unsubscribes the
   * watcher.
   */
  watch(watcher: Watcher): () => void;
  /**
   * Resolves with the first result of `look` that is neither undefined nor false; calls `look` on
   * every change.
   */
  waitFor<T>(
    look: (world: SimulatedWorld) => T | undefined | false,
    timeoutMs?: number,
  ): Promise<T>;
  close(): Promise<void>;
}

export interface Watcher {
  readonly change?: () => void;
  readonly act?: (act: PlayerAct) => void;
}

interface Person {
  readonly key: string;
  readonly name: string;
  readonly id: string;
}

interface Chat {
  readonly key: string;
  readonly kind: 'direct' | 'group' | 'thread';
  readonly title: string;
  readonly id: string;
  readonly parent?: string;
  readonly members: readonly string[];
  isBotIn: boolean;
  /** The key of each message by its platform id, and the number of messages per author. */
  readonly keys: Map<string, string>;
  readonly counts: Map<string, number>;
}

/** The number of messages per chat that are shown; older messages remain on the platform. */
const SHOWN_MESSAGES = 200;
/** The key of a draft, which gets a number only when it is sent. */
const DRAFT = 'draft';

/**
 * Creates a simulator of one platform with the people You, Ann and Bo, a direct chat with each, and
 * a group of all three.
 */
export function createSimulator(side: PlatformBackend, clock: PlayClock): Simulator {
  return new PlatformSimulator(side, clock);
}

class PlatformSimulator implements Simulator {
  readonly #side: PlatformBackend;
  readonly #clock: PlayClock;
  readonly #people = new Map<string, Person>();
  readonly #chats = new Map<string, Chat>();
  readonly #watchers = new Set<Watcher>();
  #isDue = false;

  constructor(side: PlatformBackend, clock: PlayClock) {
    this.#side = side;
    this.#clock = clock;
    for (const name of ['You', 'Ann', 'Bo']) this.#addPerson(name);
    this.#addGroup({ kind: 'group', name: 'Friends', members: ['ann', 'bo'] });
    side.changes.onChange(() => this.#changed());
  }

  get platform() {
    return this.#side.platform;
  }

  get settings() {
    return this.#side.settings;
  }

  get owner(): string {
    return `${this.platform}:${this.#person('you').id.replace(/@.*$/, '')}`;
  }

  get firstGroup(): string {
    return this.#chat('friends').id;
  }

  world(): SimulatedWorld {
    const { platform, bot, can, faults } = this.#side;
    return {
      ...{ platform, bot, can },
      faults: Object.keys(faults) as SimulatedWorld['faults'],
      people: [...this.#people.values()],
      chats: [...this.#chats.values()].map((chat) => {
        const { keys: _keys, counts: _counts, ...facts } = chat;
        const messages = this.#messages(chat).slice(-SHOWN_MESSAGES);
        const notice = this.#side.notice?.(chat.id);
        return {
          ...{ ...facts, messages, isTyping: this.#side.isTyping(chat.id) },
          ...(notice && { notice: { ...notice, to: this.#keyOf(notice.to) } }),
        };
      }),
      commands: this.#side.commands(),
      calls: this.#side.calls(),
      now: this.#clock.now(),
      ahead: this.#clock.ahead(),
    };
  }

  async act(given: PlayerAct): Promise<string | undefined> {
    const act = PlayerAct.parse(given);
    for (const watcher of this.#watchers) watcher.act?.(act);
    const made = await this.#do(act);
    this.#changed();
    return made;
  }

  file(chatKey: string, message: string, index: number): PlatformFile | undefined {
    const chat = this.#chat(chatKey);
    const id = this.#idOf(chat, message);
    return this.#side.messages(chat.id).find((one) => one.id === id)?.files[index];
  }

  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  waitFor<T>(look: (world: SimulatedWorld) => T | undefined | false, timeoutMs = 30_000) {
    return new Promise<T>((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        stop();
      };
      const change = () => {
        const seen = look(this.world());
        if (seen === undefined || seen === false) return;
        end();
        resolve(seen);
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`Timed out after ${timeoutMs} ms. ${summarizeWorld(this.world())}`));
      }, timeoutMs);
      const stop = this.watch({ change });
      change();
    });
  }

  close(): Promise<void> {
    return this.#side.close();
  }

  async #do(act: PlayerAct): Promise<string | undefined> {
    const side = this.#side;
    switch (act.kind) {
      case 'say':
        return this.#say(act);
      case 'flood':
        return this.#flood(act);
      case 'edit':
      case 'delete':
      case 'react':
      case 'press':
        return this.#onMessage(act);
      case 'person':
        return this.#addPerson(act.name);
      case 'group':
        return this.#addGroup(act);
      case 'thread':
        return this.#addThread(act);
      case 'bot':
        return this.#setBot(act);
      case 'fault':
        return this.#fault(act);
      case 'clear-faults':
        side.clearFaults();
        return undefined;
      case 'clock':
        this.#clock.advance(act.minutes * 60_000);
        return undefined;
    }
  }

  async #say({ chat: chatKey, from, text, mention, replyTo, file }: PlayerActOf<'say'>) {
    const chat = this.#chat(chatKey);
    const id = await this.#side.say({
      chat: chat.id,
      from: this.#person(from).id,
      text,
      mention: mention === true,
      replyTo: replyTo === undefined ? undefined : this.#idOf(chat, replyTo),
      file: file && { ...file, bytes: new Uint8Array(Buffer.from(file.base64, 'base64')) },
    });
    if (id === undefined) return undefined;
    this.#messages(chat);
    return chat.keys.get(id);
  }

  async #flood({ count, text, ...rest }: PlayerActOf<'flood'>): Promise<undefined> {
    for (let nth = 1; nth <= count; nth += 1) {
      await this.#say({ ...rest, kind: 'say', text: `${text} ${nth}` });
    }
  }

  async #onMessage(
    act: PlayerActOf<'edit'> | PlayerActOf<'delete'> | PlayerActOf<'react'> | PlayerActOf<'press'>,
  ): Promise<undefined> {
    const side = this.#side;
    const chat = this.#chat(act.chat);
    const id = this.#idOf(chat, act.message);
    const author = act.message.split(':')[0] ?? '';
    switch (act.kind) {
      case 'edit':
        await side.edit(chat.id, id, this.#person(author).id, act.text);
        return;
      case 'delete':
        if (side.delete === undefined)
          throw createUnsupportedError(this.platform, 'does not notify bots of deletions');
        await side.delete(chat.id, id, this.#person(author).id);
        return;
      case 'react': {
        const { emoji, gone = false, from } = act;
        const person = this.#person(from).id;
        await side.react({ chat: chat.id, message: id, from: person, emoji, gone });
        return;
      }
      case 'press':
        if (side.press === undefined) throw createUnsupportedError(this.platform, 'has no buttons');
        await side.press(chat.id, id, this.#person(act.from).id, act.button);
    }
  }

  #addPerson(name: string): string {
    const key = createUniqueKey(name, this.#people);
    const id = this.#side.addPerson(name, this.#people.size);
    this.#people.set(key, { key, name, id });
    const chat = this.#side.directChat(id);
    this.#addChat({ key, kind: 'direct', title: name, id: chat, members: [key] });
    return key;
  }

  #addGroup({ name, members }: PlayerActOf<'group'>): string {
    const all = [...new Set(['you', ...members])];
    const id = this.#side.addGroup(
      name,
      all.map((key) => this.#person(key).id),
    );
    const key = createUniqueKey(name, this.#chats);
    this.#addChat({ key, kind: 'group', title: name, id, members: all });
    return key;
  }

  #addThread({ chat, from, name }: PlayerActOf<'thread'>): string {
    const parent = this.#chat(chat);
    if (this.#side.addThread === undefined)
      throw createUnsupportedError(this.platform, 'has no threads');
    if (parent.kind !== 'group') throw new Error('Threads can be opened only in groups.');
    const id = this.#side.addThread(parent.id, name, this.#person(from).id);
    const key = createUniqueKey(`${parent.key}/${slugify(name)}`, this.#chats);
    const { members } = parent;
    this.#addChat({ key, kind: 'thread', title: name, id, parent: parent.key, members });
    return key;
  }

  #addChat(chat: Omit<Chat, 'isBotIn' | 'keys' | 'counts'>): void {
    this.#chats.set(chat.key, { ...chat, isBotIn: true, keys: new Map(), counts: new Map() });
  }

  #setBot({ chat: key, isIn }: PlayerActOf<'bot'>): undefined {
    const chat = this.#chat(key);
    if (chat.kind === 'thread')
      throw new Error('A bot can be added to or removed from a group, but not a thread.');
    if (chat.kind === 'direct' && !this.#side.can.block)
      throw createUnsupportedError(this.platform, 'cannot block the bot here');
    this.#side.setBot({ chat: chat.id, kind: chat.kind }, isIn);
    for (const one of this.#chats.values())
      if (one === chat || one.parent === key) one.isBotIn = isIn;
  }

  #fault({ fault, chat, seconds = 5, times = 1 }: PlayerActOf<'fault'>): undefined {
    const strike = this.#side.faults[fault];
    if (strike === undefined)
      throw createUnsupportedError(this.platform, `has no fault "${fault}"`);
    strike({ chat: chat === undefined ? undefined : this.#chat(chat).id, seconds, times });
  }

  /** Returns the messages of a chat and assigns keys to new messages. */
  #messages(chat: Chat): SimulatedMessage[] {
    const found = this.#side.messages(chat.id);
    for (const { id, from, isGrowing } of found) {
      if (chat.keys.has(id) || isGrowing) continue;
      const author = this.#keyOf(from);
      const count = (chat.counts.get(author) ?? 0) + 1;
      chat.counts.set(author, count);
      chat.keys.set(id, `${author}:${count}`);
    }
    return found.map((message) => this.#shown(chat, message));
  }

  #shown(chat: Chat, message: PlatformMessage): SimulatedMessage {
    const { id, from, files, reactions, replyTo, onlyFor, ...rest } = message;
    const emojis = [...new Set(reactions.map(([emoji]) => emoji))];
    return {
      ...rest,
      key: chat.keys.get(id) ?? DRAFT,
      from: this.#keyOf(from),
      files: files.map(({ name, type }) => ({ name, type })),
      reactions: emojis.map((emoji) => ({
        emoji,
        by: reactions.filter(([one]) => one === emoji).map(([, by]) => this.#keyOf(by)),
      })),
      ...(replyTo !== undefined && { replyTo: chat.keys.get(replyTo) }),
      ...(onlyFor !== undefined && { onlyFor: this.#keyOf(onlyFor) }),
    };
  }

  /** Returns the key of a person, or the platform's id for unknown people. */
  #keyOf(id: string): string {
    for (const person of this.#people.values()) if (person.id === id) return person.key;
    return id;
  }

  #person(key: string): Person {
    const person = this.#people.get(key);
    if (person !== undefined) return person;
    throw new Error(`There is no "${key}". Known keys: ${[...this.#people.keys()].join(', ')}.`);
  }

  #chat(key: string): Chat {
    const chat = this.#chats.get(key);
    if (chat !== undefined) return chat;
    throw new Error(
      `There is no chat "${key}". Known keys: ${[...this.#chats.keys()].join(', ')}.`,
    );
  }

  #idOf(chat: Chat, key: string): string {
    this.#messages(chat);
    for (const [id, known] of chat.keys) if (known === key) return id;
    throw new Error(`There is no message "${key}" in "${chat.key}".`);
  }

  /** Watchers are notified once per burst of changes. */
  #changed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      for (const chat of this.#chats.values()) this.#messages(chat);
      for (const watcher of this.#watchers) watcher.change?.();
    });
  }
}

function createUnsupportedError(platform: Platform, what: string): Error {
  return new Error(`${PLATFORM_NAMES[platform]} ${what}.`);
}

function summarizeWorld(world: SimulatedWorld): string {
  const lines = world.chats.flatMap(({ key, messages }) =>
    messages.slice(-5).map(({ from, text }) => `${key}: ${from}: ${text.slice(0, 80)}`),
  );
  return `Visible: ${lines.join(' | ')}`;
}
