import type { VNode } from 'preact';
import { runOperation } from '../gateway.ts';
import { toHref } from '../route.ts';
import { type ActionRunner, useOperation } from '../ui/data.tsx';
import { formatMoment } from '../ui/format.ts';
import { EntryLink } from '../ui/frames.tsx';
import {
  ActionButton,
  DataContent,
  DiffLines,
  List,
  OutsideText,
  Section,
} from '../ui/widgets.tsx';
import type { OpenFile } from './editing.tsx';

interface HistoryProps {
  readonly file: OpenFile;
  readonly chosen: string | undefined;
  readonly work: ActionRunner;
}

/** The stored versions of a file, and the changes since one of them. */
export function FileHistoryPanel({ file, chosen, work }: HistoryProps): VNode | null {
  const { name, versions } = file;
  if (versions.length === 0) return null;
  const known = versions.find(({ version }) => version === chosen);
  return (
    <Section title="History">
      <List look="entry-list" of={versions}>
        {({ version, at, why }) => (
          <EntryLink
            key={version}
            href={toHref('files', name, version)}
            title={why[0] ?? 'found like this'}
            at={at}
            facts={why.slice(1).join(' ')}
            isChosen={version === chosen}
          />
        )}
      </List>
      {known && <FileVersionEntry key={chosen} file={file} version={known} work={work} />}
    </Section>
  );
}

interface VersionProps extends Pick<HistoryProps, 'file' | 'work'> {
  readonly version: OpenFile['versions'][number];
}

function FileVersionEntry({ file, version, work }: VersionProps): VNode {
  const { name, print, isGoverned } = file;
  const kept = { name, version: version.version };
  const data = useOperation('files/version', kept);
  const restore = () => runOperation('files/restore', kept, () => 'Restored as a new version.');
  return (
    <section aria-label="Version">
      <DataContent data={data}>
        {({ text, diff }) => (
          <>
            <h4>From {formatMoment(version.at)} to now</h4>
            <DiffLines lines={diff} />
            {!isGoverned && (diff !== '' || print === null) && (
              <p class="actions">
                <ActionButton label="Restore this version" onPress={() => work.run(restore)} />
              </p>
            )}
            <details>
              <summary>Full text</summary>
              <OutsideText as="pre" look="layer-text">
                {text}
              </OutsideText>
            </details>
          </>
        )}
      </DataContent>
    </section>
  );
}
