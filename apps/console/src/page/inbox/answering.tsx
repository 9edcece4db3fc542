import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { runOperation } from '../gateway.ts';
import { DataScope, useActionRunner, useDataScope, useOperation } from '../ui/data.tsx';
import { OutcomeNote } from '../ui/widgets.tsx';

type ConversationReport = OutputOf<'conversations/show'>;
type Mode = ConversationReport['mode'];

/** The modes and their names. */
const MODES: readonly (readonly [Mode, string])[] = [
  ['agent', 'Agent'],
  ['ask', 'Ask'],
  ['plan', 'Plan'],
];

interface ModeProps {
  readonly mode: Mode;
  readonly onChoose: (mode: Mode) => void;
  /**
   * Whether to hide the label visually, because the value is self-explanatory. Screen readers still
   * read the label.
   */
  readonly isLabelHidden?: boolean;
}

/** Selects the mode of a conversation. */
export function ModeChoice({ mode, onChoose, isLabelHidden }: ModeProps): VNode {
  return (
    <label>
      <span class={isLabelHidden ? 'visually-hidden' : ''}>Mode</span>
      <select
        class="field"
        title="Agent uses tools, Ask only reads and answers, and Plan writes a plan first"
        value={mode}
        onChange={({ currentTarget: { value } }) => {
          const [to] = MODES.find(([one]) => one === value) ?? [];
          if (to !== undefined) onChoose(to);
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

interface ModelProps extends Pick<ModeProps, 'isLabelHidden'> {
  readonly of: Pick<ConversationReport, 'model' | 'models' | 'usualModel'>;
  /** Selects a model; null for the model in the settings. */
  readonly onChoose: (model: string | null) => void;
}

/** Selects the model of a conversation. */
export function ModelChoice({ of, onChoose, isLabelHidden }: ModelProps): VNode {
  const { model, models, usualModel } = of;
  const shown = model === null || models.includes(model) ? models : [...models, model];
  return (
    <label>
      <span class={isLabelHidden ? 'visually-hidden' : ''}>Model</span>
      <select
        class="field"
        title={model ?? usualModel}
        value={model ?? ''}
        onChange={({ currentTarget: { value } }) => onChoose(value === '' ? null : value)}
      >
        <option value="">{shortenModelName(toModelName(usualModel), shown)} (default)</option>
        {shown.map((one) => (
          <option key={one} value={one}>
            {shortenModelName(one, shown)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The name of a model, without its server or the reason for its selection. */
function toModelName(usualModel: string): string {
  return usualModel.split(/ at |: |; /)[0] ?? usualModel;
}

/** A model name without its provider, unless two models would then have the same name. */
function shortenModelName(model: string, all: readonly string[]): string {
  const [, name = model] = /^[^/]+\/(.+)$/.exec(model) ?? [];
  return all.some((one) => one !== model && one.endsWith(`/${name}`)) ? model : name;
}

interface ModeAndModelSettingsProps {
  /** The conversation; null while the chat is new. */
  readonly id: string | null;
  /** Changes with every message, because a message may be `/mode` or `/model`. */
  readonly round: number;
  /** A sentence that describes the model from the settings. */
  readonly usualModel: string;
  /** Sends a command, which is the only way to change a chat that has no conversation yet. */
  readonly onCommand: (command: string) => void;
}

/** The mode and model of a chat, shown beside its composer. */
export function ModeAndModelSettings({
  id,
  round,
  usualModel,
  onCommand,
}: ModeAndModelSettingsProps): VNode {
  return (
    <DataScope key={id}>
      {id === null ? (
        <InitialChoices usualModel={usualModel} onCommand={onCommand} />
      ) : (
        <Choices id={id} round={round} />
      )}
    </DataScope>
  );
}

interface ChoicesProps {
  readonly id: string;
  readonly round: number;
}

function Choices({ id, round }: ChoicesProps): VNode | null {
  const report = useOperation('conversations/show', { id }).value;
  const { refresh } = useDataScope();
  const { outcome, run } = useActionRunner();
  useEffect(() => {
    if (report !== undefined) refresh();
  }, [round]);
  if (report === undefined) return null;
  return (
    <>
      <ModeChoice
        mode={report.mode}
        onChoose={(mode) => run(() => runOperation('conversations/set-mode', { id, mode }))}
        isLabelHidden
      />
      <ModelChoice
        of={report}
        onChoose={(model) => run(() => runOperation('conversations/set-model', { id, model }))}
        isLabelHidden
      />
      {outcome?.isTrouble && <OutcomeNote outcome={outcome} />}
    </>
  );
}

/** In a new chat, the first choice of a mode sends a command, which starts the conversation. */
function InitialChoices({
  usualModel,
  onCommand,
}: Pick<ModeAndModelSettingsProps, 'usualModel' | 'onCommand'>): VNode {
  const [mode, setMode] = useState<Mode>('agent');
  const choose = (to: Mode): void => {
    setMode(to);
    onCommand(`/mode ${to}`);
  };
  return (
    <>
      <ModeChoice mode={mode} onChoose={choose} isLabelHidden />
      <ModelChoice
        of={{ model: null, models: [], usualModel }}
        onChoose={() => undefined}
        isLabelHidden
      />
    </>
  );
}
