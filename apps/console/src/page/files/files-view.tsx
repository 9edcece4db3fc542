import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type Route, toHref } from '../route.ts';
import { useOperation } from '../ui/data.tsx';
import { formatAmount } from '../ui/format.ts';
import { EntryLink, SplitView } from '../ui/frames.tsx';
import { ActionButton, DataContent, List } from '../ui/widgets.tsx';
import { FileSheet } from './file-sheet.tsx';
import { describeReaders } from './readers.ts';

type FileList = OutputOf<'files/list'>;

/**
 * The Markdown files in the workspace: what the agent reads, who may see it, and an editor (U03,
 * W07).
 */
export function FilesView({ args: [name, version] }: Route): VNode {
  const data = useOperation('files/list', {});
  const facts = data.value?.files.find((file) => file.name === name);
  return (
    <SplitView
      name="files-view"
      title="Files"
      label="Files"
      showsList={name === undefined}
      list={
        <DataContent data={data}>{(list) => <FileBrowser {...list} chosen={name} />}</DataContent>
      }
      back={toHref('files')}
    >
      {name === undefined ? (
        <p class="nothing">Select a file. Changes apply from the next message.</p>
      ) : (
        <FileSheet key={name} name={name} facts={facts} version={version} />
      )}
    </SplitView>
  );
}

function FileBrowser({ files, removed, chosen }: FileList & { chosen: string | undefined }): VNode {
  const groups = [
    { title: 'In prompts', of: files.filter(({ isPromptFile }) => isPromptFile) },
    { title: 'Other files', of: files.filter(({ isPromptFile }) => !isPromptFile) },
  ].filter(({ of }) => of.length > 0);
  return (
    <>
      <NewFile />
      {groups.map(({ title, of }) => (
        <section key={title} aria-label={title}>
          <h3 class="hint">{title}</h3>
          <List look="entry-list" of={of}>
            {(file) => (
              <EntryLink
                key={file.name}
                href={toHref('files', file.name)}
                title={file.name}
                at={file.changedAt}
                facts={describeReaders(file)}
                isChosen={file.name === chosen}
              >
                {file.tokens === 0 ? 'empty' : `≈ ${formatAmount(file.tokens)} tokens`}
              </EntryLink>
            )}
          </List>
        </section>
      ))}
      {removed.length > 0 && (
        <section aria-label="Removed">
          <h3 class="hint">Removed</h3>
          <List of={removed}>
            {(name) => (
              <a key={name} class="entry-link" href={toHref('files', name)}>
                {name}
              </a>
            )}
          </List>
        </section>
      )}
    </>
  );
}

/** Opens an empty editor for the given name; saving creates the file. */
function NewFile(): VNode {
  const [name, setName] = useState('');
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    const plain = name.trim().replace(/^\/+/, '');
    if (plain === '') return;
    location.hash = toHref('files', /\.md$/i.test(plain) ? plain : `${plain}.md`);
    setName('');
  };
  return (
    <form class="row" onSubmit={onSubmit}>
      <input
        class="field"
        aria-label="Name of a new file"
        placeholder="knowledge/boats.md"
        value={name}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
      />
      <ActionButton label="New file" isSubmit />
    </form>
  );
}
