import { readFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import type { VisibleMessage } from './conversation.ts';
import type { DiscordDouble } from './discord-double.ts';
import type { Json } from './wire.ts';

/** The user id of whoever types. */
export const PERSON = '200000000000001001';

const TYPES: Readonly<Record<string, string>> = {
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.ogg': 'audio/ogg',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
};

/** What can be typed besides words. */
export const TYPED_HELP = `Write to talk to the bot; @bot mentions it, /name option=value is a slash command. Besides:
  !dm, !channel      where you write         !press LABEL     the button of the newest message that has it
  !thread NAME       open a thread and stay  !edit TEXT       change what you wrote last
  !file PATH [WORDS] a file of your disk     !delete          take back what you wrote last
  !reply TEXT        answer its last words   !react EMOJI     below its last words`;

/** Somebody at a keyboard, and where they are. */
export class Typist {
  readonly #double: DiscordDouble;
  /** Channel, thread or direct chat. */
  here: string;

  constructor(double: DiscordDouble) {
    this.#double = double;
    this.here = double.dmWith(PERSON);
  }

  /** Does what a typed line says; throws with a reason for people. */
  runLine(line: string): void {
    if (line.trim() === '') return;
    const [, mark, name = '', rest = ''] = /^([!/])(\S+)\s*(.*)$/su.exec(line) ?? [];
    if (mark === '/') this.#slash(name, rest);
    else if (mark === '!') this.#act(name, rest);
    else this.#say(line);
  }

  #act(name: string, rest: string): unknown {
    const double = this.#double;
    switch (name) {
      case 'dm':
        this.here = double.dmWith(PERSON);
        return this.here;
      case 'channel':
        this.here = double.channelId;
        return this.here;
      case 'thread':
        this.here = double.thread({ channel: double.channelId, name: rest, from: PERSON });
        return this.here;
      case 'file':
        return this.#sayFile(rest);
      case 'reply':
        return this.#say(rest, this.#last('bot').id);
      case 'press':
        return this.#press(rest);
      case 'edit':
        return double.reword(this.here, this.#last(PERSON).id, rest);
      case 'delete':
        return double.erase(this.here, this.#last(PERSON).id);
      case 'react': {
        const message = this.#last('bot').id;
        return double.react({ channel: this.here, message, from: PERSON, emoji: rest });
      }
      default:
        throw new Error(`There is no !${name}.\n${TYPED_HELP}`);
    }
  }

  #say(words: string, replyTo?: string): void {
    const text = words.replaceAll('@bot', `<@${this.#double.me.id}>`);
    this.#double.say({ channel: this.here, from: PERSON, text, replyTo });
  }

  #sayFile(rest: string): void {
    const [, path = '', text] = /^(\S+)\s*(.+)?$/su.exec(rest) ?? [];
    const bytes = new Uint8Array(readFileSync(path));
    const file = { name: basename(path), bytes, type: TYPES[extname(path).toLowerCase()] };
    this.#double.say({ channel: this.here, from: PERSON, text, files: [file] });
  }

  #slash(name: string, rest: string): void {
    const parts = rest.split(/\s+(?=\w+=)/u).filter((part) => part !== '');
    const options = Object.fromEntries(
      parts.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]),
    );
    this.#double.slash({ channel: this.here, from: PERSON, name, options });
  }

  #press(label: string): void {
    for (const { id, message } of this.#double.conversation(this.here).reverse()) {
      const button = buttonsOf(message.components).find((known) => known.label === label);
      if (typeof button?.custom_id !== 'string') continue;
      const press = { channel: this.here, from: PERSON, message: id };
      this.#double.press({ ...press, customId: button.custom_id });
      return;
    }
    throw new Error(`No message here has a button "${label}".`);
  }

  #last(from: string): VisibleMessage {
    const found = this.#double.conversation(this.here).findLast((message) => message.from === from);
    if (found === undefined) throw new Error('There is no such message here yet.');
    return found;
  }
}

/** The buttons of a message, in order. */
export function buttonsOf(rows: readonly Json[]): Json[] {
  return rows.flatMap(({ components }) => (Array.isArray(components) ? components : []));
}
