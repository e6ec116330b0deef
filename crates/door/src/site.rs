//! Sites: the named places where the program stores to the second tier.

macro_rules! sites {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A place in the program that passes the door.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Site {
            $($(#[$doc])* $name,)*
        }

        /// The number of sites.
        pub const SITES: usize = Site::ALL.len();

        impl Site {
            /// All sites.
            pub const ALL: &[Site] = &[$(Site::$name,)*];

            /// Returns its name in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Site::$name => $text,)*
                }
            }
        }
    };
}

sites! {
    /// A slot of the root.
    Root = "root",
    /// The lines of the root's slot.
    RootWriteBack = "root.write-back",
    /// The root is durable: the index may rely on it.
    RootFence = "root.fence",
    /// All that a start found is durable: it may rely on it.
    OpenSync = "root.open-sync",
    /// All that was stored is durable before the root says closed, and the root after it.
    CloseSync = "root.close-sync",
    /// A slot of the list of fields.
    Fields = "fields",
    /// The lines of the list's slot.
    FieldsWriteBack = "fields.write-back",
    /// The list is durable: log records may name the fields that it adds.
    FieldsFence = "fields.fence",
    /// A log record.
    LogRecord = "log.record",
    /// The lines of the record.
    LogWriteBack = "log.write-back",
    /// The record is durable: its operations may be acknowledged.
    LogFence = "log.fence",
    /// The death of a row in an engraved segment.
    Stamp = "stamp",
    /// The line of the stamp.
    StampWriteBack = "stamp.write-back",
    /// Deaths are durable before their record can be trimmed.
    StampFence = "stamp.fence",
    /// The copied arrays of a segment's body.
    Body = "engrave.body",
    /// The words of a segment's body that are written for the first time.
    BodyWords = "engrave.words",
    /// The deaths since the copy.
    BodyStamp = "engrave.stamp",
    /// The lines of the body.
    BodyWriteBack = "engrave.write-back",
    /// The slot of the segment.
    Slot = "engrave.slot",
    /// The lines of the slot.
    SlotWriteBack = "engrave.slot-write-back",
    /// Body and slot are durable: the segment may be marked.
    BodyFence = "engrave.fence",
    /// The commit mark.
    Mark = "engrave.mark",
    /// The line of the mark.
    MarkWriteBack = "engrave.mark-write-back",
    /// The mark is durable: the segment is engraved, and its operations leave the log.
    MarkFence = "engrave.mark-fence",
    /// A bucket of a larger array, which leads to its records.
    Grow = "merge.grow",
    /// The line of the bucket.
    GrowWriteBack = "merge.grow-write-back",
    /// All buckets of the larger array are durable: it may be used.
    GrowFence = "merge.grow-fence",
    /// The size of the larger array, which takes it into use.
    GrowCount = "merge.grow-count",
    /// The line of the size.
    GrowCountWriteBack = "merge.grow-count-write-back",
    /// The size is durable: records may enter the larger array alone, and chains may be cut.
    GrowCountFence = "merge.grow-count-fence",
    /// The seal of a part whose index is closed.
    Seal = "close.seal",
    /// The link and the record of a node.
    Link = "merge.link",
    /// The line of both.
    LinkWriteBack = "merge.link-write-back",
    /// A record of the merged dictionary that nothing leads to yet.
    Record = "merge.record",
    /// The lines of the record.
    RecordWriteBack = "merge.record-write-back",
    /// Links and records are durable: buckets may lead to them.
    LinkFence = "merge.link-fence",
    /// A bucket, which leads to new records.
    Enter = "merge.enter",
    /// The line of the bucket.
    EnterWriteBack = "merge.enter-write-back",
    /// The head of a term.
    Head = "merge.head",
    /// The line of the head.
    HeadWriteBack = "merge.head-write-back",
    /// The heads are durable: every term of the segment can be found and is linked, so it may be
    /// marked.
    HeadFence = "merge.head-fence",
    /// The word that led to a term that leaves the merged dictionary.
    Unlink = "unlink",
    /// The line of that word.
    UnlinkWriteBack = "unlink.write-back",
    /// The word is durable: the term's record may be overwritten.
    UnlinkFence = "unlink.fence",
    /// The mark of the oldest segment, which is dropped.
    Retire = "retire",
    /// The line of its mark.
    RetireWriteBack = "retire.write-back",
    /// The mark is durable: the segment's space may be reused.
    RetireFence = "retire.fence",
}
