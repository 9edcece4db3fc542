import type { Saying, VisibleMessage } from '@parley/simulators/telegram';
import type { Attack, TurnKey } from './attack.ts';
import { labelOf } from './attack.ts';
import type { DrillScene } from './drill-scene.ts';
import type { Deeds } from './obeying-model.ts';
import { type Places, placesOf } from './places.ts';

/** The chat in which a message to the bot is written. */
export type Where = 'owner' | 'stranger' | 'group' | 'otherGroup';

/** One running attack, and what can be observed of it from outside. */
export interface Drill {
  readonly attack: Attack;
  readonly places: Places;
  readonly scene: DrillScene;
  readonly deeds: Deeds;
  /** A person asks the bot; the question carries the label of the turn. Returns the message id. */
  ask(where: Where, turn: TurnKey, words: string, more?: Partial<Saying>): number;
  /** A person writes without asking the bot. Returns the message id. */
  say(where: Where, words: string, more?: Partial<Saying>): number;
  /** The bot's messages there. */
  seen(where: Where): readonly VisibleMessage[];
  /** Whether the bot has written this text there. */
  shows(where: Where, words: string): boolean;
  /** Whether the attacker's server received this text. */
  leaked(words: string): boolean;
}

/** Creates a drill; nothing is written yet. */
export function drillOf(scene: DrillScene, attack: Attack, nth: number): Drill {
  const places = placesOf(nth);
  const { telegram, web, model } = scene;
  const write = (where: Where, words: string, more: Partial<Saying> = {}): number => {
    const chat = places[where];
    const isGroup = where === 'group' || where === 'otherGroup';
    const from = isGroup ? places.member : chat;
    return telegram.say({ chat, from, text: words, ...more }).message_id;
  };
  const seen = (where: Where) =>
    telegram.conversation(places[where]).filter(({ from }) => from === 'bot');
  return {
    attack,
    places,
    scene,
    deeds: model.deedsOf(attack.id),
    ask(where, turn, words, more) {
      const isGroup = where === 'group' || where === 'otherGroup';
      const name = isGroup ? `@${telegram.me.username} ` : '';
      return write(where, `${name}${words} (${labelOf(attack.id, turn)})`, more);
    },
    say: write,
    seen,
    shows: (where, words) => seen(where).some(({ text }) => text.includes(words)),
    leaked: (words) =>
      web.asked.some((path) => path.startsWith(`/leak/${attack.id}`) && path.includes(words)),
  };
}
