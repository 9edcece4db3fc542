import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { addAgentToPath, askGateway } from '../gateway.ts';
import { useActionRunner } from '../ui/data.tsx';
import { ActionButton, OutcomeNote } from '../ui/widgets.tsx';

interface KeepProps {
  readonly turnId: string;
  /** The agent that answered; absent if there is only one. */
  readonly agent: string | undefined;
}

/** Keeps a turn as a case that `parley eval` checks (G22). */
export function KeepCase({ turnId, agent }: KeepProps): VNode {
  const [name, setName] = useState('');
  const { outcome, run } = useActionRunner();
  const keep = async () => {
    const path = addAgentToPath('/api/evals/keep', agent);
    const input = { turn: turnId, name: name.trim() };
    const answer = await askGateway<OutputOf<'evals/keep'>>(path, input);
    if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
    const { path: file, notes } = answer.value;
    const next = 'Add what the answer must say, and run "parley eval".';
    return { text: [`Kept as ${file}.`, ...notes, next].join(' '), isTrouble: false };
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
        maxLength={80}
        value={name}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
      />
      <ActionButton label="Keep as case" isSubmit />
      <OutcomeNote outcome={outcome} />
    </form>
  );
}
