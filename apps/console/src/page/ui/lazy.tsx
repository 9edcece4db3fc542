import { useSignal } from '@preact/signals';
import type { ComponentType, VNode } from 'preact';
import { useEffect } from 'preact/hooks';

interface LazyProps<Props extends object> {
  readonly load: () => Promise<ComponentType<Props>>;
  readonly props: Props;
  /** Shown until the file is there. */
  readonly before?: VNode;
}

/** A part of the frame whose file is loaded after the first view is there. */
export function Lazy<Props extends object>({
  load,
  props,
  before,
}: LazyProps<Props>): VNode | null {
  const loaded = useSignal<ComponentType<Props> | null>(null);
  useEffect(() => {
    // The file may be gone when the gateway was updated: the views say so.
    load().then(
      (found) => {
        loaded.value = found;
      },
      () => undefined,
    );
  }, []);
  const Loaded = loaded.value;
  return Loaded === null ? (before ?? null) : <Loaded {...props} />;
}
