import { useSignal } from '@preact/signals';
import type { ComponentType, VNode } from 'preact';
import { useEffect } from 'preact/hooks';

interface LazyProps<Props extends object> {
  readonly load: () => Promise<ComponentType<Props>>;
  readonly props: Props;
  /** Shown until the file is loaded. */
  readonly before?: VNode;
}

/** A part of the frame whose file is loaded after the first view. */
export function Lazy<Props extends object>({
  load,
  props,
  before,
}: LazyProps<Props>): VNode | null {
  const loaded = useSignal<ComponentType<Props> | null>(null);
  useEffect(() => {
    // The file may be gone after an update of the gateway; the views report that.
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
