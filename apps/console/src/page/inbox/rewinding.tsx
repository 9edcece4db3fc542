import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { openBranch } from '../branch.ts';
import { performOperation, runOperation } from '../gateway.ts';
import { useActionRunner, useDataScope } from '../ui/data.tsx';
import { PointActions } from '../ui/point-actions.tsx';
import { ActionButton, List, OutcomeNote, OutsideText } from '../ui/widgets.tsx';

export type RewindReport = OutputOf<'conversations/rewind'>;

interface ReturnToProps {
  readonly conversation: string;
  readonly message: { readonly id: string; readonly direction: 'in' | 'out' };
  readonly onRewound: (report: RewindReport) => void;
}

/** Goes on from a message of any channel, or opens a copy of the conversation on the page. */
export function ReturnTo({ conversation: id, message, onRewound }: ReturnToProps): VNode {
  return (
    <PointActions
      isQuestion={message.direction === 'in'}
      onRewind={async () => {
        const answer = await performOperation('conversations/rewind', { id, message: message.id });
        if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
        onRewound(answer.value);
        return undefined;
      }}
      onBranch={() => openBranch(id, message.id)}
    />
  );
}

/** What a rewind did not undo: the actions of tools, and memories, which can be removed here. */
export function RewindNote({ report }: { readonly report: RewindReport }): VNode | null {
  const { effects, memories, wasStopped, setAside } = report;
  return (
    <div class="card" role="status">
      {wasStopped && <p>The running turn was stopped.</p>}
      {setAside > 0 && <p>Waiting messages were set aside unanswered.</p>}
      {effects.length === 0 && memories.length === 0 && (
        <p>The agent goes on from here. Tools changed nothing meanwhile.</p>
      )}
      {effects.length > 0 && (
        <>
          <p>
            This was done meanwhile and is <b>not</b> undone:
          </p>
          <List of={[...effects.entries()]}>
            {([nth, { tool, about, state }]) => (
              <span key={nth}>
                <b>{tool}</b> {about} {state === 'done' ? '' : STATES[state]}
              </span>
            )}
          </List>
        </>
      )}
      {memories.map((memory) => (
        <SavedMemory key={`${memory.file} ${memory.id}`} memory={memory} />
      ))}
    </div>
  );
}

const STATES = { failed: '(failed)', unknown: '(was still running; may have happened)' } as const;

function SavedMemory({ memory }: { readonly memory: RewindReport['memories'][number] }): VNode {
  const { outcome, run } = useActionRunner();
  const { isBusy } = useDataScope();
  const { file, id, text } = memory;
  return (
    <p>
      Saved meanwhile: <OutsideText>{text}</OutsideText>{' '}
      {outcome === undefined && !isBusy.value && (
        <ActionButton
          label="Forget it"
          onPress={() =>
            run(() => runOperation('memory/forget', { file, id }, ({ text: done }) => done))
          }
        />
      )}
      <OutcomeNote outcome={outcome} />
    </p>
  );
}
