import { useSignal } from '@preact/signals';
import type { ComponentType, VNode } from 'preact';
import { useEffect } from 'preact/hooks';

interface LazyProps<Props extends object> {
  readonly load: () => Promise<ComponentType<Props>>;
  readonly props: Props;
  /** The content shown until the file is loaded. */
  readonly before?: VNode;
  /** The content shown if the file cannot be loaded; the default is `before`. */
  readonly broken?: VNode;
}

/** A view or a part of the frame. Its file is loaded when it is first shown. */
export function Lazy<Props extends object>({
  load,
  props,
  before,
  broken = before,
}: LazyProps<Props>): VNode | null {
  const loaded = useSignal<ComponentType<Props> | null>(null);
  const isBroken = useSignal(false);
  useEffect(() => {
    // An update of the gateway may have removed the file.
    load().then(
      (found) => {
        loaded.value = found;
      },
      () => {
        isBroken.value = true;
      },
    );
  }, []);
  const Loaded = loaded.value;
  if (Loaded !== null) return <Loaded {...props} />;
  return (isBroken.value ? broken : before) ?? null;
}
