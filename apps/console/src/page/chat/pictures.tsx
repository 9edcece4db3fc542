import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { fetchFile } from '../gateway.ts';
import { IconButton } from '../ui/widgets.tsx';

interface PictureProps {
  readonly path: string;
  readonly name: string;
}

/**
 * A picture in a message. The frame has its final size before the picture is loaded; a click shows
 * the picture in full.
 */
export function Picture({ path, name }: PictureProps): VNode | null {
  const address = useObjectUrl(path, fetchPicture);
  const whole = useRef<HTMLDialogElement>(null);
  if (address === 'gone') return null;
  if (address === null) return <span class="frame" />;
  const close = (): void => whole.current?.close();
  return (
    <>
      <button
        type="button"
        class="frame"
        title="Show the whole picture"
        onClick={() => whole.current?.showModal()}
      >
        <img class="picture" src={address} alt={name} />
      </button>
      <dialog ref={whole} class="whole-picture" aria-label={name} closedby="any">
        <img src={address} alt={name} />
        <IconButton icon="close" label="Close" onPress={close} />
      </dialog>
    </>
  );
}

/** A thumbnail of a file that is not sent yet. */
export function Thumbnail({ file }: { readonly file: File }): VNode | null {
  const address = useObjectUrl(file, readFileBlob);
  return address === null || address === 'gone' ? null : (
    <img class="thumbnail" src={address} alt="" />
  );
}

/** The bytes of a picture; null if the response does not have a picture type. */
async function fetchPicture(path: string): Promise<Blob | null> {
  const file = await fetchFile(path);
  return file?.type.startsWith('image/') ? file : null;
}

async function readFileBlob(file: File): Promise<Blob> {
  return file;
}

/**
 * An object URL for bytes, valid while they are shown. It is null while they load, and `gone` if
 * they no longer exist.
 */
function useObjectUrl<Source>(
  source: Source,
  load: (source: Source) => Promise<Blob | null>,
): string | null {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    let url: string | null = null;
    let isOver = false;
    void load(source).then((bytes) => {
      if (isOver) return;
      url = bytes && URL.createObjectURL(bytes);
      setAddress(url ?? 'gone');
    });
    return () => {
      isOver = true;
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, [source]);
  return address;
}
