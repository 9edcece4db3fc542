import type { WebFile } from '@parley/channels/web';
import type { RefObject, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { download } from '../gateway.ts';
import { formatFileSize } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { IconButton, List } from '../ui/widgets.tsx';
import type { Conversation } from './conversation.ts';
import { Picture, Thumbnail } from './pictures.tsx';

/**
 * The files of a message. Pictures are shown, and every file can be saved as long as the gateway
 * keeps it.
 */
export function MessageFiles({
  files,
  path,
  isSending = false,
}: {
  readonly files: readonly WebFile[];
  /** The address of the file at an index in the list. */
  readonly path: (index: number) => string;
  /** Whether the files are still being sent; until they are, space for pictures is reserved. */
  readonly isSending?: boolean;
}): VNode | null {
  if (files.length === 0) return null;
  return (
    <List look="files" of={files.map((file, index) => ({ file, at: path(index) }))}>
      {({ file, at }) => <FileLine key={at} file={file} path={at} isSending={isSending} />}
    </List>
  );
}

interface LineProps {
  readonly file: WebFile;
  readonly path: string;
  readonly isSending: boolean;
}

function FileLine({ file, path, isSending }: LineProps): VNode {
  const [trouble, setTrouble] = useState('');
  const name = file.name ?? file.kind;
  const size = file.size === null ? '' : formatFileSize(file.size);
  if (!file.isKept) {
    return (
      <>
        {isSending && file.kind === 'image' && <span class="frame" />}
        <span class="file">{`${name} ${size}`}</span>
      </>
    );
  }
  const save = async (): Promise<void> => setTrouble((await download(path, name))?.text ?? '');
  return (
    <>
      {file.kind === 'image' && <Picture path={path} name={name} />}
      <button type="button" class="quiet file" onClick={save} title={`Download ${name}`}>
        <Icon name="down" /> {name} <span class="hint">{size}</span>
      </button>
      {trouble !== '' && <span role="alert">{trouble}</span>}
    </>
  );
}

/** The files for the next message, and why other files were rejected. */
interface ChosenFilesState {
  readonly files: readonly File[];
  /** Why the last files were not added; empty if they were added. */
  readonly trouble: string;
  add(files: readonly File[]): void;
  drop(event: DragEvent): void;
  remove(file: File): void;
  clear(): void;
}

/** Collects files for the next message, within the gateway's limits. */
export function useChosenFiles(
  limits: Conversation['limits'],
  field: RefObject<HTMLTextAreaElement>,
): ChosenFilesState {
  const [files, setFiles] = useState<readonly File[]>([]);
  const [trouble, setTrouble] = useState('');
  const set = (all: readonly File[]): void => {
    const reason = findFilesRefusal(all, limits);
    setTrouble(reason ?? '');
    if (reason === null) setFiles(all);
    field.current?.focus();
  };
  const add = (added: readonly File[]): void => {
    if (added.length > 0) set([...files, ...added]);
  };
  return {
    files,
    trouble,
    add,
    drop(event) {
      event.preventDefault();
      add([...(event.dataTransfer?.files ?? [])]);
    },
    remove: (file) => set(files.filter((other) => other !== file)),
    clear: () => set([]),
  };
}

export function ChosenFiles({ files, trouble, remove }: ChosenFilesState): VNode {
  return (
    <>
      {files.length > 0 && (
        <ul class="row chosen-files" aria-label="Files to send">
          {files.map((file, index) => (
            <li key={`${index} ${file.name}`}>
              {file.type.startsWith('image/') && <Thumbnail file={file} />}
              <span>
                {file.name} <span class="hint">{formatFileSize(file.size)}</span>
              </span>
              <IconButton icon="close" label={`Remove ${file.name}`} onPress={() => remove(file)} />
            </li>
          ))}
        </ul>
      )}
      {trouble !== '' && (
        <p class="trouble" role="alert">
          {trouble}
        </p>
      )}
    </>
  );
}

/** Why these files cannot be sent together; null if they can. */
function findFilesRefusal(files: readonly File[], limits: Conversation['limits']): string | null {
  if (limits === undefined) return null;
  const large = files.find(({ size }) => size > limits.file);
  if (large !== undefined) {
    return `"${large.name}" is larger than ${formatFileSize(limits.file)}, the limit for one file.`;
  }
  const size = files.reduce((sum, file) => sum + file.size, 0);
  return size <= limits.message
    ? null
    : `The files in one message can be up to ${formatFileSize(limits.message)} in total.`;
}
