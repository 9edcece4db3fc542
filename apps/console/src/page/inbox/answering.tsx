import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { order } from '../gateway.ts';
import { DataScope, useOperation, useScope, useWork, type Work } from '../ui/data.tsx';
import { OutcomeNote } from '../ui/widgets.tsx';

type ConversationReport = OutputOf<'conversations/show'>;

interface ChoiceProps {
  readonly report: Pick<ConversationReport, 'id' | 'mode' | 'model' | 'models' | 'usualModel'>;
  readonly run: Work['run'];
  /** Its value says what it is: the label is for screen readers alone. */
  readonly isLabelHidden?: boolean;
}

/** The modes with their names. */
const MODES = [
  ['agent', 'Agent'],
  ['ask', 'Ask'],
  ['plan', 'Plan'],
] as const;

/** Switches a conversation to another mode, as `/mode` does. */
export function ModeChoice({ report: { id, mode }, run, isLabelHidden }: ChoiceProps): VNode {
  return (
    <label>
      <span class={isLabelHidden ? 'visually-hidden' : ''}>Mode</span>
      <select
        class="field"
        title="Agent uses tools, Ask only answers, Plan writes a plan first"
        value={mode}
        onChange={({ currentTarget: { value } }) => {
          const [to] = MODES.find(([one]) => one === value) ?? [];
          if (to !== undefined) run(() => order('conversations/set-mode', { id, mode: to }));
        }}
      >
        {MODES.map(([one, name]) => (
          <option key={one} value={one}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Gives a conversation another model, as `/model` does. */
export function ModelChoice({ report, run, isLabelHidden }: ChoiceProps): VNode {
  const { id, model, models, usualModel } = report;
  const shown = model === null || models.includes(model) ? models : [...models, model];
  return (
    <label>
      <span class={isLabelHidden ? 'visually-hidden' : ''}>Model</span>
      <select
        class="field"
        title={model ?? usualModel}
        value={model ?? ''}
        onChange={({ currentTarget: { value } }) =>
          run(() => order('conversations/set-model', { id, model: value === '' ? null : value }))
        }
      >
        <option value="">{shortName(nameOf(usualModel), shown)} (default)</option>
        {shown.map((one) => (
          <option key={one} value={one}>
            {shortName(one, shown)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The name of a model, without its server and how it was chosen. */
function nameOf(usualModel: string): string {
  return usualModel.split(/ at |: |; /)[0] ?? usualModel;
}

/** A model without its provider, where that leaves no two with the same name. */
function shortName(model: string, all: readonly string[]): string {
  const [, name = model] = /^[^/]+\/(.+)$/.exec(model) ?? [];
  return all.some((one) => one !== model && one.endsWith(`/${name}`)) ? model : name;
}

interface AnsweringProps {
  /** The conversation. */
  readonly id: string;
  /** Changes with everything that is said: `/mode` and `/model` may have been. */
  readonly round: number;
}

/** How a chat is answered, beside its composer: the mode and the model. */
export function Answering(props: AnsweringProps): VNode {
  return (
    <DataScope>
      <Choices {...props} />
    </DataScope>
  );
}

function Choices({ id, round }: AnsweringProps): VNode | null {
  const report = useOperation('conversations/show', { id }).value;
  const { refresh } = useScope();
  const { outcome, run } = useWork();
  useEffect(() => {
    if (report !== undefined) refresh();
  }, [round]);
  if (report === undefined) return null;
  return (
    <>
      <ModeChoice report={report} run={run} isLabelHidden />
      <ModelChoice report={report} run={run} isLabelHidden />
      {outcome?.isTrouble && <OutcomeNote outcome={outcome} />}
    </>
  );
}
