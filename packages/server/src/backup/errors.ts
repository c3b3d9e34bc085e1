/** A file that cannot be taken for a whole backup: the message goes on from the file's name. */
export class BackupRefused extends Error {
  override readonly name = "BackupRefused";
}
