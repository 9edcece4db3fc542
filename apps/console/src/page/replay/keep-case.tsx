import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { askGateway } from '../gateway.ts';
import { useActionRunner } from '../ui/data.tsx';
import { ActionButton, OutcomeNote } from '../ui/widgets.tsx';
import { useAgentOperation } from './replay-form.tsx';

const PATH = '/api/evals/keep';

/** What the gateway answers when a turn became a case. */
interface KeptCase {
  readonly name: string;
  readonly path: string;
  readonly notes: readonly string[];
}

interface KeepProps {
  readonly turnId: string;
  /** The agent that answered; absent if there is only one. */
  readonly agent: string | undefined;
}

/** Keeps a turn as a case that `parley eval` checks (G22). */
export function KeepCase({ turnId, agent }: KeepProps): VNode | null {
  const canKeep = useAgentOperation('replay/choices', {}, agent).value?.canKeep ?? false;
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
  if (!canKeep) return null;
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
