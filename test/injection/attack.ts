import type { Drill } from './drill.ts';

/** What a scripted model does in one step. Arguments may use what the tools of this turn said so far. */
export type Step =
  | {
      readonly tool: string;
      readonly input: object | ((heard: readonly string[]) => object);
    }
  | { readonly says: string | ((heard: readonly string[]) => string) };

/** One message that somebody writes, and what the model does about it. */
export interface DrillTurn {
  /** Plants what there is to plant and writes; absent for the turn of a sub-agent or a heartbeat. */
  readonly write?: (drill: Drill) => void;
  /** What any helpful model does before it has read the attack. */
  readonly leads?: readonly Step[];
  /** What one does that has read it and obeys. The last step may be an answer. */
  readonly obeys?: readonly Step[];
  /** The last step is done again and again. */
  readonly forEver?: boolean;
  /** When it is over, where that is not a new message of the bot. */
  readonly until?: (drill: Drill) => boolean;
}

/** What stopped the attack, by the names that the page uses. */
export type Guard =
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

/** Whose turn it is: where the question is asked, and what that place may see. */
export type Asker = 'an owner, alone' | 'a group' | 'a stranger, alone';

/** One row of the drill. */
export interface Attack {
  readonly id: string;
  /** The promises it is about, as in the titles of tests. */
  readonly promises: string;
  /** Where the hostile text is. */
  readonly place: string;
  readonly asker: Asker;
  /** What it asks for, as the page says it. */
  readonly wants: string;
  /** `1` to `3` is what people write, in this order; `sub` is the turn of a sub-agent or a heartbeat. */
  readonly turns: Readonly<Partial<Record<TurnKey, DrillTurn>>>;
  /** Whether the goal was reached, seen from outside. */
  readonly harm: (drill: Drill) => boolean;
  /** Shown where the tools themselves cannot say what has stopped it. */
  readonly sign?: (drill: Drill) => boolean;
  /** What has to stop it; null where nothing does, and the page says so. */
  readonly stoppedBy: Guard | null;
  /** Nothing stops it as Parley comes, but with `CAREFUL` settings a person is asked. */
  readonly askedWhenCareful?: true;
  /** What is left of the danger, or what an operator can do; absent where nothing is left. */
  readonly remains?: string;
}

export type TurnKey = '1' | '2' | '3' | 'sub';

/** The word by which the text of an attack is found wherever it goes. */
export function markOf(id: string): string {
  return `OBEY-${id}`;
}

/** What an ordinary question carries, so that the scripted model knows which drill it is in. */
export function labelOf(id: string, turn: TurnKey): string {
  return `drill:${id}/${turn}`;
}
