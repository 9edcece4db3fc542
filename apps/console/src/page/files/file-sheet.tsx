import type { VNode } from 'preact';
import { hrefOf } from '../route.ts';
import { useOperation, useWork, type Work } from '../ui/data.tsx';
import { amount } from '../ui/format.ts';
import { OutcomeNote, Said, Show } from '../ui/widgets.tsx';
import { Editing, type OpenFile } from './editing.tsx';
import { History } from './history.tsx';
import { readersOf, type ShownFile } from './readers.ts';

interface SheetProps {
  readonly name: string;
  /** Absent if the file does not exist yet or the list has not been loaded. */
  readonly facts: ShownFile | undefined;
  readonly version: string | undefined;
}

/** One file with its token cost, readers, editor and history. */
export function FileSheet({ name, facts, version }: SheetProps): VNode {
  const data = useOperation('files/open', { name });
  const work = useWork();
  return (
    <div class="sheet file-sheet">
      <header class="entry-head">
        <h2 class="title">{name}</h2>
        {facts && <Facts {...facts} />}
      </header>
      <Show data={data}>
        {(file) => (
          <>
            <Body file={file} work={work} />
            <OutcomeNote outcome={work.outcome} />
            <History file={file} chosen={version} work={work} />
          </>
        )}
      </Show>
    </div>
  );
}

function Facts(file: ShownFile): VNode {
  const { tokens, isPromptFile, problem } = file;
  const cost = tokens === 0 ? 'Empty: it costs nothing' : `About ${amount(tokens)} tokens`;
  const use = isPromptFile ? 'can become part of a prompt' : 'read only when the agent opens it';
  return (
    <>
      <p>
        Visible to <b>{readersOf(file)}</b>. {cost}; {use}.
      </p>
      {problem && <p class="trouble">{problem}</p>}
    </>
  );
}

interface BodyProps {
  readonly file: OpenFile;
  readonly work: Work;
}

function Body({ file, work }: BodyProps): VNode {
  if (file.isGoverned) {
    return (
      <>
        <p>
          SOUL.md changes through proposals. See <a href={hrefOf('soul')}>Soul</a>.
        </p>
        <Said as="pre" look="layer-text">
          {file.text}
        </Said>
      </>
    );
  }
  if (file.text === null && file.versions.length > 0) {
    return <p class="facts">This file was removed. Any of its versions can be restored.</p>;
  }
  return <Editing file={file} work={work} />;
}
