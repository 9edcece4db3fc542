import type { WebFile } from '@parley/channels/web';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { download, fileOf } from '../gateway.ts';
import { Icon } from '../ui/icon.tsx';
import { List } from '../ui/widgets.tsx';

/** The files of a message: pictures are shown, all of them can be saved while the gateway keeps them. */
export function MessageFiles({
  files,
  path,
}: {
  readonly files: readonly WebFile[];
  /** The address of the file at a place in the list. */
  readonly path: (index: number) => string;
}): VNode | null {
  if (files.length === 0) return null;
  return (
    <List look="files" of={files.map((file, index) => ({ file, at: path(index) }))}>
      {({ file, at }) => <FileLine key={at} file={file} path={at} />}
    </List>
  );
}

function FileLine({ file, path }: { readonly file: WebFile; readonly path: string }): VNode {
  const [trouble, setTrouble] = useState('');
  const name = file.name ?? file.kind;
  const size = file.size === null ? '' : sizeOf(file.size);
  if (!file.isKept) return <span class="file">{`${name} ${size}`}</span>;
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

function Picture({ path, name }: { readonly path: string; readonly name: string }): VNode | null {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    let url: string | null = null;
    let isGone = false;
    void fileOf(path).then((file) => {
      // Any other type is not a picture by its own bytes.
      if (isGone || !file?.type.startsWith('image/')) return;
      url = URL.createObjectURL(file);
      setAddress(url);
    });
    return () => {
      isGone = true;
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, [path]);
  return address === null ? null : <img class="picture" src={address} alt={name} />;
}

interface ChosenProps {
  readonly files: readonly File[];
  readonly onRemove: (file: File) => void;
}

/** Files that go with the next message. */
export function ChosenFiles({ files, onRemove }: ChosenProps): VNode | null {
  if (files.length === 0) return null;
  return (
    <ul class="chosen-files" aria-label="Files to send">
      {files.map((file, index) => (
        <li key={`${index} ${file.name}`}>
          <span>{`${file.name} ${sizeOf(file.size)}`}</span>
          <button
            type="button"
            class="quiet"
            aria-label={`Remove ${file.name}`}
            onClick={() => onRemove(file)}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

const MB = 1_024 * 1_024;

/** A size in kB or MB. */
export function sizeOf(bytes: number): string {
  return bytes < MB ? `${Math.ceil(bytes / 1_024)} kB` : `${Math.round((bytes / MB) * 10) / 10} MB`;
}
