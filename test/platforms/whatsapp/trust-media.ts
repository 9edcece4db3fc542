import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { WhatsAppDouble } from '@parley/simulators/whatsapp';
import { onTestFinished } from 'vitest';

type Hosting = Pick<WhatsAppDouble, 'media'>;

/** Makes this process trust the double's file server until the test ends. */
export function trustMedia(double: Hosting): void {
  onTestFinished(trustForLong(double));
}

/** Trusts the double's file server until the returned function is called. */
export function trustForLong({ media }: Hosting): () => void {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, media.certificate]);
  return () => setDefaultCACertificates(before);
}
