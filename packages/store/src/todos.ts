import type { PinPlace } from './pins.ts';

/** One item of a list. */
export interface TodoItem {
  readonly text: string;
  readonly state: 'open' | 'doing' | 'done';
}

/** The to-dos of sessions (G12); a conversation has one list, that of its newest session. */
export interface TodoRepository {
  /** Puts `items` in the place of what was there. An earlier session does not replace a later one's. */
  replace(place: PinPlace, items: readonly TodoItem[], now: number): Promise<void>;
  /** The list of that session, empty where it has none. */
  of(place: PinPlace): Promise<readonly TodoItem[]>;
  /** That of the session a conversation is in now; empty where it has none. */
  now(conversationId: string): Promise<readonly TodoItem[]>;
}
