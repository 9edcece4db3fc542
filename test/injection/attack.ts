import type { Drill } from './drill.ts';

/**
 * What a scripted model does in one step. Arguments may depend on the tool results of this turn.
 */
export type AttackStep =
  | {
      readonly tool: string;
      readonly input: object | ((heard: readonly string[]) => object);
    }
  | { readonly says: string | ((heard: readonly string[]) => string) };

/** One message to the bot, and what the model does about it. */
export interface DrillTurn {
  /**
   * Plants the hostile text, if any, and writes the message; absent for the turn of a sub-agent or
   * a heartbeat.
   */
  readonly write?: (drill: Drill) => void;
  /** The steps of any helpful model before it has read the attack. */
  readonly leads?: readonly AttackStep[];
  /** The steps of a model that has read the attack and obeys it. The last step may be an answer. */
  readonly obeys?: readonly AttackStep[];
  /** Whether the last step is repeated endlessly. */
  readonly forEver?: boolean;
  /** The condition for the end of the turn, unless a new message from the bot marks it. */
  readonly until?: (drill: Drill) => boolean;
}

/** The guard that stopped the attack, as named on the page. */
export type AttackGuard =
  | 'never shown'
  | 'not offered'
  | 'not there for this reader'
  | 'not writable for this reader'
  | 'a person is asked'
  | 'only an approver'
  | 'public addresses only'
  | 'named addresses only'
  | 'own words only'
  | 'proposals only'
  | 'shown as data'
  | 'printed harmlessly'
  | 'fixed text'
  | 'limits'
  | 'an answer is no command';

/** The person who asks and the kind of chat, which determine what the turn may see. */
export type AttackAsker = 'an owner, alone' | 'a group' | 'a stranger, alone';

/** One row of the drill. */
export interface Attack {
  readonly id: string;
  /** The promises being tested, as in test titles. */
  readonly promises: string;
  /** Where the hostile text is. */
  readonly place: string;
  readonly asker: AttackAsker;
  /** The goal of the attack, as worded on the page. */
  readonly wants: string;
  /**
   * `1` to `3` are people's messages, in this order; `sub` is the turn of a sub-agent or a
   * heartbeat.
   */
  readonly turns: Readonly<Partial<Record<TurnKey, DrillTurn>>>;
  /** Whether the goal was reached, observed from outside. */
  readonly harm: (drill: Drill) => boolean;
  /** Whether a guard was observed, for attacks whose tools cannot tell which guard stopped them. */
  readonly sign?: (drill: Drill) => boolean;
  /** The guard that must stop the attack; null if there is none, as the page then states. */
  readonly stoppedBy: AttackGuard | null;
  /** Not stopped by default, but with `CAREFUL` settings a person is asked. */
  readonly askedWhenCareful?: true;
  /** The remaining danger, or what an operator can do; absent if there is none. */
  readonly remains?: string;
}

export type TurnKey = '1' | '2' | '3' | 'sub';

/** A word that identifies the text of an attack wherever it appears. */
export function getMark(id: string): string {
  return `OBEY-${id}`;
}

/** The label in an ordinary question that tells the scripted model which drill it belongs to. */
export function getLabel(id: string, turn: TurnKey): string {
  return `drill:${id}/${turn}`;
}
