import { ParleyError } from '@parley/contracts';

/** What keeps a WhatsApp account from working until a person does something. */
export type WhatsAppErrorCode =
  /** Credentials or keys in the database cannot be read. */
  'whatsapp-state-damaged';

/** An error of this package; the message says what to do. */
export class WhatsAppError extends ParleyError {
  constructor(code: WhatsAppErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}
