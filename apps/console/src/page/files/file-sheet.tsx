import type { VNode } from 'preact';
import { toHref } from '../route.ts';
import { type ActionRunner, useActionRunner, useOperation } from '../ui/data.tsx';
import { formatAmount } from '../ui/format.ts';
import { DataContent, OutcomeNote, OutsideText } from '../ui/widgets.tsx';
import { FileEditorPane, type OpenFile } from './editing.tsx';
import { FileHistoryPanel } from './history.tsx';
import { describeReaders, type ListedFile } from './readers.ts';

interface SheetProps {
  readonly name: string;
  /** Absent if the file does not exist yet or the list has not been loaded. */
  readonly facts: ListedFile | undefined;
  readonly version: string | undefined;
}

/** A file with its token cost, readers, editor and history. */
export function FileSheet({ name, facts, version }: SheetProps): VNode {
  const data = useOperation('files/open', { name });
  const work = useActionRunner();
  return (
    <div class="sheet file-sheet">
      <header class="entry-head">
        <h2 class="title">{name}</h2>
        {facts && <FileDetails {...facts} />}
      </header>
      <DataContent data={data}>
        {(file) => (
          <>
            <FileBody file={file} work={work} />
            <OutcomeNote outcome={work.outcome} />
            <FileHistoryPanel file={file} chosen={version} work={work} />
          </>
        )}
      </DataContent>
    </div>
  );
}

function FileDetails(file: ListedFile): VNode {
  const { tokens, isPromptFile, problem } = file;
  const cost =
    tokens === 0 ? 'Empty: it does not cost anything' : `About ${formatAmount(tokens)} tokens`;
  const use = isPromptFile ? 'can become part of a prompt' : 'read only when the agent opens it';
  return (
    <>
      <p>
        Visible to <b>{describeReaders(file)}</b>. {cost}; {use}.
      </p>
      {problem && <p class="trouble">{problem}</p>}
    </>
  );
}

interface BodyProps {
  readonly file: OpenFile;
  readonly work: ActionRunner;
}

function FileBody({ file, work }: BodyProps): VNode {
  if (file.isGoverned) {
    return (
      <>
        <p>
          SOUL.md is changed through proposals. See <a href={toHref('soul')}>Soul</a>.
        </p>
        <OutsideText as="pre" look="layer-text">
          {file.text}
        </OutsideText>
      </>
    );
  }
  if (file.text === null && file.versions.length > 0) {
    return <p class="facts">This file was removed. Any of its versions can be restored.</p>;
  }
  return <FileEditorPane file={file} work={work} />;
}
