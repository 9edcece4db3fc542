import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ActionOutcome } from '../gateway.ts';
import { useActionRunner } from './data.tsx';
import { IconButton, OutcomeNote, TextButton } from './widgets.tsx';

interface PointActionsProps {
  /** Whether the message is a person's, which is then taken back as well. */
  readonly isQuestion: boolean;
  readonly onRewind: () => Promise<ActionOutcome | undefined>;
  /** Null if the conversation cannot be branched. */
  readonly onBranch: (() => Promise<ActionOutcome | undefined>) | null;
}

/** The actions that return to a message: to go on from it here, or in a copy (G23). */
export function PointActions({ isQuestion, onRewind, onBranch }: PointActionsProps): VNode {
  const [isAsked, setAsked] = useState(false);
  const { outcome, run } = useActionRunner();
  if (isAsked) {
    const what = isQuestion ? 'This message and what follows' : 'What follows this answer';
    return (
      <span class="row" role="group" aria-label="Continue from here?">
        {what} leaves the agent's context, but stays readable. What tools did is not undone.{' '}
        <TextButton
          label="Continue from here"
          onPress={() => {
            setAsked(false);
            run(onRewind);
          }}
        />
        <TextButton label="Cancel" onPress={() => setAsked(false)} />
      </span>
    );
  }
  return (
    <>
      <IconButton icon="rewind" label="Continue from here" onPress={() => setAsked(true)} />
      {onBranch !== null && (
        <IconButton icon="branch" label="Branch from here" onPress={() => run(onBranch)} />
      )}
      <OutcomeNote outcome={outcome} />
    </>
  );
}
