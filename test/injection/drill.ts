import type { PersonMessage, VisibleMessage } from '@parley/simulators/telegram';
import type { Attack, TurnKey } from './attack.ts';
import { getLabel } from './attack.ts';
import type { DrillScene } from './drill-scene.ts';
import type { ModelDeeds } from './obeying-model.ts';
import { createDrillChats, type DrillChats } from './places.ts';

/** The chat in which a message to the bot is written. */
export type MessageLocation = 'owner' | 'stranger' | 'group' | 'otherGroup';

/** One running attack, and what can be observed of it from outside. */
export interface Drill {
  readonly attack: Attack;
  readonly places: DrillChats;
  readonly scene: DrillScene;
  readonly deeds: ModelDeeds;
  /** A person asks the bot; the question carries the label of the turn. Returns the message id. */
  ask(where: MessageLocation, turn: TurnKey, words: string, more?: Partial<PersonMessage>): number;
  /** A person writes without asking the bot. Returns the message id. */
  say(where: MessageLocation, words: string, more?: Partial<PersonMessage>): number;
  /** The bot's messages in this chat. */
  seen(where: MessageLocation): readonly VisibleMessage[];
  /** Whether the bot has written this text in this chat. */
  shows(where: MessageLocation, words: string): boolean;
  /** Whether the attacker's server received this text. */
  leaked(words: string): boolean;
}

/** Creates a drill; nothing is written yet. */
export function createDrill(scene: DrillScene, attack: Attack, nth: number): Drill {
  const places = createDrillChats(nth);
  const { telegram, web, model } = scene;
  const write = (
    where: MessageLocation,
    words: string,
    more: Partial<PersonMessage> = {},
  ): number => {
    const chat = places[where];
    const isGroup = where === 'group' || where === 'otherGroup';
    const from = isGroup ? places.member : chat;
    return telegram.say({ chat, from, text: words, ...more }).message_id;
  };
  const seen = (where: MessageLocation) =>
    telegram.conversation(places[where]).filter(({ from }) => from === 'bot');
  return {
    attack,
    places,
    scene,
    deeds: model.deedsOf(attack.id),
    ask(where, turn, words, more) {
      const isGroup = where === 'group' || where === 'otherGroup';
      const name = isGroup ? `@${telegram.me.username} ` : '';
      return write(where, `${name}${words} (${getLabel(attack.id, turn)})`, more);
    },
    say: write,
    seen,
    shows: (where, words) => seen(where).some(({ text }) => text.includes(words)),
    leaked: (words) =>
      web.asked.some((path) => path.startsWith(`/leak/${attack.id}`) && path.includes(words)),
  };
}
