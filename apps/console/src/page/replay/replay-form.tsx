import type { InputOf, OperationName, OutputOf } from '@parley/gateway/operations';
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { addAgentToPath, buildReadPath } from '../gateway.ts';
import { type LoadedData, useData } from '../ui/data.tsx';
import { ActionButton, DataContent, LabeledField } from '../ui/widgets.tsx';
import type { ReplayChoice } from './outcome-words.ts';

/** The fields of the form; empty for what stays as recorded. */
interface ReplayDraft {
  readonly model: string;
  readonly profile: string;
  readonly file: string;
  /** The new text of the file; null until it is edited. */
  readonly text: string | null;
  readonly asksModel: boolean;
  readonly liveReads: boolean;
}

const UNCHANGED: ReplayDraft = {
  ...{ model: '', profile: '', file: '', text: null },
  ...{ asksModel: false, liveReads: false },
};

interface FormProps {
  /** The agent whose models, profiles and files are offered; without a name, the default one. */
  readonly agent: string | undefined;
  readonly isBusy?: boolean;
  readonly submit: (choice: ReplayChoice) => void;
  /** What asking costs, as a sentence. */
  readonly cost: string;
  /** Further fields. */
  readonly children?: ComponentChildren;
}

/** What a replay changes, and whether the model is asked. Building the request costs nothing. */
export function ReplayForm({ agent, isBusy = false, submit, cost, children }: FormProps): VNode {
  const [draft, setDraft] = useState(UNCHANGED);
  const change = (part: Partial<ReplayDraft>): void => setDraft({ ...draft, ...part });
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    submit(toChoice(draft));
  };
  return (
    <form class="card stack" aria-label="Replay" onSubmit={onSubmit}>
      <div class="replay-fields">
        {children}
        <VersionChoice agent={agent} draft={draft} change={change} />
        <FileChoice
          agent={agent}
          file={draft.file}
          choose={(file) => change({ file, text: null })}
        />
      </div>
      {draft.file !== '' && (
        <FileText
          key={draft.file}
          agent={agent}
          file={draft.file}
          text={draft.text}
          edit={(text) => change({ text })}
        />
      )}
      <AskChoice draft={draft} change={change} cost={cost} />
      <p class="actions">
        <ActionButton
          label={draft.asksModel ? 'Ask the model' : 'Build the request'}
          look="is-main"
          isSubmit
          isBusy={isBusy}
        />
      </p>
    </form>
  );
}

/** Only what differs from the record. */
function toChoice({ model, profile, file, text, asksModel, liveReads }: ReplayDraft): ReplayChoice {
  return {
    ...(model.trim() !== '' && { model: model.trim() }),
    ...(profile !== '' && { profile }),
    ...(file !== '' && text !== null && { files: { [file]: text } }),
    ...(asksModel ? liveReads && { liveReads } : { dryRun: true }),
  };
}

interface AskProps {
  readonly draft: ReplayDraft;
  readonly change: (part: Partial<ReplayDraft>) => void;
  readonly cost: string;
}

function AskChoice({ draft, change, cost }: AskProps): VNode {
  const { asksModel, liveReads } = draft;
  const option = (asks: boolean, label: string, hint: string): VNode => (
    <label class="replay-option">
      <input
        type="radio"
        name="replay-asks"
        checked={asksModel === asks}
        onChange={() => change({ asksModel: asks })}
      />
      <span>
        {label} <span class="hint">{hint}</span>
      </span>
    </label>
  );
  return (
    <fieldset class="replay-asks">
      <legend class="visually-hidden">What to do</legend>
      {option(false, 'Build the request only', 'No model is asked, and nothing is charged.')}
      {option(true, 'Ask the model', cost)}
      {asksModel && (
        <label class="replay-option">
          <input
            type="checkbox"
            checked={liveReads}
            onChange={() => change({ liveReads: !liveReads })}
          />
          <span>
            Let tools that only read answer new calls{' '}
            <span class="hint">Otherwise a call that is not in the record ends the replay.</span>
          </span>
        </label>
      )}
    </fieldset>
  );
}

interface VersionProps extends Omit<AskProps, 'cost'> {
  readonly agent: string | undefined;
}

/** Another model, which need not be one of the settings, and another profile. */
function VersionChoice({ agent, draft, change }: VersionProps): VNode {
  const { models = [], profiles = [] } = useAgentOperation('replay/choices', {}, agent).value ?? {};
  return (
    <>
      <LabeledField label="Model" id="replay-model">
        <input
          id="replay-model"
          class="field"
          list="replay-models"
          value={draft.model}
          placeholder="As recorded"
          onInput={({ currentTarget }) => change({ model: currentTarget.value })}
        />
      </LabeledField>
      <datalist id="replay-models">
        {models.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {profiles.length > 0 && (
        <LabeledField label="Profile" id="replay-profile">
          <select
            id="replay-profile"
            class="field"
            value={draft.profile}
            onChange={({ currentTarget }) => change({ profile: currentTarget.value })}
          >
            <option value="">As recorded</option>
            {profiles.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </LabeledField>
      )}
    </>
  );
}

interface FileChoiceProps {
  readonly agent: string | undefined;
  readonly file: string;
  readonly choose: (file: string) => void;
}

/** Offers the files that can become part of a prompt. */
function FileChoice({ agent, file, choose }: FileChoiceProps): VNode {
  const files = useAgentOperation('files/list', {}, agent).value?.files ?? [];
  return (
    <LabeledField label="New text for a file" id="replay-file">
      <select
        id="replay-file"
        class="field"
        value={file}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        <option value="">None</option>
        {files
          .filter(({ isPromptFile }) => isPromptFile)
          .map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
      </select>
    </LabeledField>
  );
}

interface FileTextProps extends Omit<FileChoiceProps, 'choose'> {
  readonly text: string | null;
  readonly edit: (text: string) => void;
}

/** The new text of a file, which starts as its current one; the file itself is not changed. */
function FileText({ agent, file, text, edit }: FileTextProps): VNode {
  const data = useAgentOperation('files/open', { name: file }, agent);
  return (
    <DataContent data={data}>
      {(opened) => (
        <LabeledField
          label={`Text of ${file}`}
          id="replay-text"
          hint="Only for this replay: the file itself stays as it is."
        >
          <textarea
            id="replay-text"
            class="field replay-text"
            rows={8}
            maxLength={200_000}
            value={text ?? opened.text ?? ''}
            onInput={({ currentTarget }) => edit(currentTarget.value)}
          />
        </LabeledField>
      )}
    </DataContent>
  );
}

/** Loads data of the agent that answered, which need not be the one selected on the page. */
function useAgentOperation<Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
  agent: string | undefined,
): LoadedData<OutputOf<Name>> {
  return useData(addAgentToPath(buildReadPath(name, input), agent));
}
