import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { askGateway, request } from '../gateway.ts';
import { useActionRunner } from '../ui/data.tsx';
import { ActionButton, OutcomeNote } from '../ui/widgets.tsx';

const PATH = '/api/evals/keep';

/** What the gateway answers when a turn became a case. */
interface KeptCase {
  readonly name: string;
  readonly path: string;
  readonly notes: readonly string[];
}

/**
 * Whether the gateway can keep a turn as a case. It names the operations of a role only if they
 * read, so it is asked: an operation that exists refuses GET because it changes something.
 */
export function useCanKeep(): boolean {
  const [canKeep, setCanKeep] = useState(false);
  useEffect(() => {
    request(PATH).then(
      ({ status }) => setCanKeep(status === 405),
      () => setCanKeep(false),
    );
  }, []);
  return canKeep;
}

/** Keeps a turn as a case that `parley eval` checks (G22). */
export function KeepCase({ turnId }: { readonly turnId: string }): VNode {
  const [name, setName] = useState('');
  const { outcome, run } = useActionRunner();
  const keep = async () => {
    const answer = await askGateway<KeptCase>(PATH, { turn: turnId, name: name.trim() });
    if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
    const { path, notes } = answer.value;
    return { text: [`Kept in ${path}.`, ...notes].join(' '), isTrouble: false };
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    run(keep);
  };
  return (
    <form class="row" aria-label="Keep as case" onSubmit={onSubmit}>
      <input
        class="field"
        aria-label="Name of the case"
        placeholder="Name of the case"
        required
        maxLength={120}
        value={name}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
      />
      <ActionButton label="Keep as case" isSubmit />
      <OutcomeNote outcome={outcome} />
    </form>
  );
}
