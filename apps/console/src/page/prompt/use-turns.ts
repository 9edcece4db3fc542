import { useEffect, useState } from 'preact/hooks';
import { readTurnPage, type TurnEntry } from './read-prompt.ts';
import { ask } from './use-answer.ts';

/** The recorded turns as far as they were asked for. */
export interface Turns {
  readonly turns: readonly TurnEntry[];
  /** Null until the first answer, and while all is well. */
  readonly failure: string | null;
  readonly loaded: boolean;
  /** Null: there are no older ones. */
  readonly more: (() => void) | null;
  /** Looks for newer ones. */
  again(): void;
}

const PATH = '/api/prompts';

/** Asks for the turns when the view opens, when the window comes back, and when told to. */
export function useTurns(): Turns {
  const [state, setState] = useState<Omit<Turns, 'more' | 'again'> & { next: string | null }>({
    turns: [],
    failure: null,
    loaded: false,
    next: null,
  });
  const look = async (before: string | null): Promise<void> => {
    const query = before === null ? '' : `?before=${encodeURIComponent(before)}`;
    const answer = await ask(`${PATH}${query}`, readTurnPage);
    setState((old) => {
      if (answer.kind === 'failed') return { ...old, failure: answer.reason, loaded: true };
      const { turns, next } = answer.value;
      const shown = before === null ? turns : [...old.turns, ...turns];
      return { turns: shown, next, failure: null, loaded: true };
    });
  };
  const again = (): void => void look(null);
  useEffect(() => {
    again();
    addEventListener('focus', again);
    return () => removeEventListener('focus', again);
  }, []);
  const { next } = state;
  return { ...state, again, more: next === null ? null : () => void look(next) };
}
